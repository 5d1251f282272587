"""Documents to serve: a page with enough text to be taken for an article, and a PDF made by hand."""

SENTENCE = "The quick brown fox jumps over the lazy dog and runs on through the wide forest until evening. "


def page(*paragraphs: str, head: str = "<title>A title</title>") -> str:
    """Return a page of HTML with these paragraphs, and one long enough to be found."""
    body = "".join(f"<p>{each}</p>" for each in (*paragraphs, SENTENCE * 3))
    return f"<!DOCTYPE html><html><head>{head}</head><body><article>{body}</article></body></html>"


def pdf(text: str, pages: int = 1) -> bytes:
    """Return a PDF whose every page shows `text` (ASCII, no brackets)."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
    numbers = range(4, 4 + pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] /Count {pages} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    content = 4 + pages
    objects += [
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
        "/Resources << /Font << /F1 3 0 R >> >> >>"
        for _ in numbers
    ]
    objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    made, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    made += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{made}startxref\n{made.index('xref')}\n%%EOF\n".encode("ascii")
