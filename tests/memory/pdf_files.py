"""PDF files for tests: pages of lines, with an outline and a password if asked for."""

import io
from collections.abc import Sequence
from typing import Any


def pdf_of(
    pages: Sequence[Sequence[str]], *, title: str = "", outline: Sequence[tuple[str, int]] = (), password: str = ""
) -> bytes:
    """`outline`: (title, number of the page from 0)."""
    import pypdf
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    name: Any = NameObject
    font = {name("/Type"): name("/Font"), name("/Subtype"): name("/Type1"), name("/BaseFont"): name("/Helvetica")}
    writer = pypdf.PdfWriter()
    for lines in pages:
        page = writer.add_blank_page(600, 800)
        fonts = DictionaryObject({name("/F1"): DictionaryObject(font)})
        page[name("/Resources")] = DictionaryObject({name("/Font"): fonts})
        shown = " T* ".join(f"({line}) Tj" for line in lines)
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 14 TL 10 780 Td {shown} ET".encode("latin-1"))
        page[name("/Contents")] = content
    for entry, number in outline:
        writer.add_outline_item(title=entry, page_number=number)
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
