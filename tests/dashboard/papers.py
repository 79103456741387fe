"""Documents that a business uploads."""

import io

from PIL import Image


def small_pdf() -> bytes:
    """A real PDF of one page, which is a picture of one color."""
    made = io.BytesIO()
    Image.new("RGB", (40, 30), "#0a6b4c").save(made, "PDF")
    return made.getvalue()
