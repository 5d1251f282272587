"""Pages of the HTTP API and of the MCP tools, from their schemas."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from docs.generators.markdown import cell, code, fence, page, table, text
from harness.server.mcp.server import INSTRUCTIONS, build_server
from harness.server.routes import build_routes

API_INTRODUCTION = """\
[`harness serve`](commands/serve.md) answers these requests. The schema is [openapi.json](openapi.json) here and
`/api/openapi.json` on a server; programs can make a client from it."""

MCP_INTRODUCTION = """\
[`harness mcp`](commands/mcp.md) offers these tools. Set-up for clients:
[Agents over MCP](../guides/agents-over-mcp.md). Every response is typed; a long one comes in parts.
The server sends these instructions to the model:"""

Schema = Mapping[str, Any]


def openapi() -> dict[str, Any]:
    """Return the OpenAPI schema of the server."""
    unused = cast("Any", None)  # only requests use the researches and the authenticator
    return build_routes(unused, unused).openapi()


def api_pages() -> dict[str, str]:
    """Return the pages of the HTTP API and of the MCP tools, and the schema itself, by path."""
    schema = openapi()
    components = schema["components"]["schemas"]
    operations = [
        _operation(method, path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    shapes = [f"### {name}\n\n{_shape(shape)}" for name, shape in sorted(components.items())]
    return {
        "reference/openapi.json": json.dumps(schema, indent=2, ensure_ascii=False),
        "reference/http-api.md": page(
            "HTTP API",
            API_INTRODUCTION,
            text(schema["info"]["description"].strip()),
            "## Requests",
            *operations,
            "## Shapes",
            *shapes,
        ),
        "reference/mcp-tools.md": page(
            "MCP tools",
            MCP_INTRODUCTION,
            fence(INSTRUCTIONS),
            *map(_tool, tools()),
            "## Resources",
            *map(_resource, asyncio.run(build_server(None).list_resource_templates())),
            "## Prompts",
            *map(_prompt, asyncio.run(build_server(None).list_prompts())),
        ),
    }


def tools() -> list[Any]:
    """Return the MCP tools."""
    return asyncio.run(build_server(None).list_tools())


def _tool(tool: Any) -> str:
    return "\n\n".join(
        [
            f"## {tool.name}",
            "\n\n".join(map(_paragraph, tool.description.split("\n\n"))),
            "**Arguments**",
            _properties(tool.input_schema),
            "**Result**",
            _result(tool.output_schema),
        ]
    )


def _resource(template: Any) -> str:
    return f"### {code(template.uri_template)}\n\n{text(template.description)}"


def _prompt(prompt: Any) -> str:
    rows = [(code(each.name), cell(each.description)) for each in prompt.arguments]
    return f"### {prompt.name}\n\n{text(prompt.description)}\n\n{table(('argument', 'meaning'), rows)}"


def _paragraph(plain: str) -> str:
    """Return a paragraph of a description; examples keep their lines."""
    return fence(plain) if plain.startswith("Example") else text(plain)


def _result(schema: Schema | None) -> str:
    if schema is None:
        return "Text."
    shapes = [schema, *(schema["$defs"][name] for name in schema.get("$defs", ()))]
    parts = [f"{code(shape.get('title', ''))}\n\n{_shape(shape)}" for shape in shapes if shape.get("properties")]
    return "\n\n".join(parts) or _kind(schema)


def _operation(method: str, path: str, operation: Schema) -> str:
    parts = [f"### {method.upper()} {path}", text(operation.get("description", ""))]
    if parameters := operation.get("parameters"):
        rows = [
            (
                code(each["name"]),
                each["in"],
                _kind(each["schema"]),
                _default(each["schema"], each.get("required", False)),
                cell(each.get("description", "")),
            )
            for each in parameters
        ]
        parts.append(table(("parameter", "in", "type", "default", "meaning"), rows))
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body: {code(kind)}, {_kind(body['schema'])}.")
    parts.append("\n".join(_answers(operation["responses"])))
    return "\n\n".join(filter(None, parts))


def _answers(responses: Schema) -> Iterator[str]:
    """Yield the responses that are not the shape of all errors, which `ErrorResponse` describes."""
    for status, response in responses.items():
        if status.startswith("2"):
            kinds = [
                ", ".join([code(kind), *([_kind(body["schema"])] if body.get("schema") else [])])
                for kind, body in response.get("content", {}).items()
            ]
            yield f"Response {status}: {' or '.join(kinds) or 'no body'}."
    failing = ", ".join(status for status in responses if not status.startswith("2"))
    if failing:
        yield f"Errors: {failing}."


def _shape(schema: Schema) -> str:
    return "\n\n".join(filter(None, [text(schema.get("description", "")), _properties(schema) or _kind(schema)]))


def _properties(schema: Schema) -> str:
    """Return a table of the fields of an object; empty without any."""
    required = schema.get("required", ())
    rows = [
        (code(name), _kind(field), _default(field, name in required), cell(field.get("description", "")))
        for name, field in schema.get("properties", {}).items()
    ]
    return table(("field", "type", "default", "meaning"), rows) if rows else ""


def _default(schema: Schema, required: bool) -> str:
    if "default" in schema:
        return code(json.dumps(schema["default"], ensure_ascii=False))
    return "required" if required else ""


def _kind(schema: Schema) -> str:
    """Return the type of a field in words, with its bounds."""
    if reference := schema.get("$ref"):
        return code(reference.rpartition("/")[2])
    for key in ("anyOf", "oneOf", "allOf"):
        if parts := schema.get(key):
            return " or ".join(dict.fromkeys(map(_kind, parts)))
    if "enum" in schema or "const" in schema:
        return " or ".join(code(json.dumps(each)) for each in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any JSON value")
    if kind == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    limits = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<", "maxLength": "length ≤"}
    found = [f"{sign} {schema[key]:,}" for key, sign in limits.items() if key in schema]
    return ", ".join([kind if isinstance(kind, str) else " or ".join(kind), *found])
