# harness serve: pages, API, search for other tools and MCP on port 8766. All data is in /data.
#
#   docker build -t research-harness .
#   docker run --rm -v harness:/data research-harness token create --tenant lab --user ada --role writer
#   docker run --rm -v harness:/data -p 8766:8766 --read-only --tmpfs /tmp research-harness

FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/harness \
 && /opt/harness/bin/pip install --no-cache-dir --disable-pip-version-check ".[web,mcp,charts,pdf,docx,postgres,otel]" \
 && /opt/harness/bin/python -m compileall -q /opt/harness/lib

FROM python:3.12-slim
RUN useradd --system --uid 10001 --no-create-home harness \
 && install --directory --owner=harness /data
COPY --from=build /opt/harness /opt/harness
ENV PATH=/opt/harness/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HARNESS_DATA_DIR=/data \
    XDG_CONFIG_HOME=/data \
    MPLCONFIGDIR=/tmp
USER 10001
VOLUME /data
EXPOSE 8766
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8766/readyz', timeout=4)"]
ENTRYPOINT ["harness"]
CMD ["serve", "--host", "0.0.0.0", "--workers", "2", "--sweep-every", "1h"]
