"""Many pictures on one, large enough that their words can be read."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw

SHEET = (1960, 1960)
LABEL_HEIGHT = 16
FOOT_HEIGHT = 24


def without_foot(picture: Any) -> Any:
    """The picture without the rows at its end that are all alike."""
    width, height = picture.size
    last = picture.crop((0, height - 1, width, height)).resize((width, height))
    box = ImageChops.difference(picture, last).getbbox()
    return picture.crop((0, 0, width, min(height, box[3] + FOOT_HEIGHT))) if box else picture


def pieces(path: Path, width: int, height_max: int) -> Iterator[tuple[str, Any]]:
    """The picture at this width, in as many pieces as it is higher than that; each with its
    name."""
    with Image.open(path) as whole:
        picture = without_foot(whole.convert("RGB"))
    picture.thumbnail((width, picture.height))
    for top in range(0, picture.height, height_max):
        piece = picture.crop((0, top, picture.width, min(top + height_max, picture.height)))
        yield f"{path.stem[:90]}{', continued' if top else ''}", piece


def shelves(pictures: list[Path], columns: int, size: tuple[int, int]) -> Iterator[Any]:
    """The pictures on sheets of this size, each below the last one where there is most room."""
    width = size[0] // columns
    sheet, feet = Image.new("RGB", size, "gray"), [0] * columns
    all_pieces = (pieces(path, width - 8, size[1] - LABEL_HEIGHT) for path in pictures)
    for name, picture in chain.from_iterable(all_pieces):
        column = feet.index(min(feet))
        if feet[column] + LABEL_HEIGHT + picture.height > size[1]:
            yield sheet
            sheet, feet, column = Image.new("RGB", size, "gray"), [0] * columns, 0
        at = (column * width, feet[column])
        ImageDraw.Draw(sheet).text((at[0] + 4, at[1] + 3), name, fill="white")
        sheet.paste(picture, (at[0], at[1] + LABEL_HEIGHT))
        feet[column] += LABEL_HEIGHT + picture.height
    if any(feet):
        yield sheet


def sheets(folder: Path) -> Iterator[Path]:
    """Many pictures on one, large enough that their words can be read."""
    target = folder / "sheets"
    target.mkdir(parents=True, exist_ok=True)
    for look in sorted(path for path in folder.iterdir() if path.is_dir() and path != target):
        columns = 5 if look.name.startswith("390-") else 2
        for number, sheet in enumerate(shelves(sorted(look.glob("*.png")), columns, SHEET)):
            sheet.save(target / f"{look.name}-{number:02d}.png")
            yield target / f"{look.name}-{number:02d}.png"
