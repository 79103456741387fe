"""The guide's table of situations, and what of it can be looked for: words of a page are there in
*emphasis*, names of the API as `code`."""

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "payments.md"
HEADING = "## When it doesn't go straight"
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WORDS = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
_CODE = re.compile(r"`([^`]+)`")
# Typed otherwise on pages than in a file.
_QUOTES = str.maketrans({"’": "'", "\N{NO-BREAK SPACE}": " "})


@dataclass(frozen=True)
class GuideRow:
    """A situation, and what each of the three is said to see."""

    name: str
    customer: str
    merchant: str
    program: str

    def missing(self, customer: str, merchant: str, program: str) -> list[str]:
        """Words that the guide names and nobody saw, each with who should have."""
        sides = (
            ("customer", _WORDS, self.customer, customer),
            ("you", _WORDS, self.merchant, merchant),
            ("program", _CODE, self.program, program),
        )
        return [
            f"{who}: {mark}"
            for who, marks, said, seen in sides
            for mark in marks.findall(said)
            if not _is_there(mark, seen)
        ]

    def marks(self) -> tuple[str, str, str]:
        """Words that are looked for, for each of the three."""
        return (
            "; ".join(_WORDS.findall(self.customer)),
            "; ".join(_WORDS.findall(self.merchant)),
            "; ".join(_CODE.findall(self.program)),
        )


def _is_there(mark: str, seen: str) -> bool:
    """A name and its value are looked for apart: JSON has its own spaces and quotes."""
    if ": " in mark:
        name, _, value = mark.partition(": ")
        return re.search(rf'"{re.escape(name)}": *{re.escape(value)}', seen) is not None
    return mark.translate(_QUOTES) in seen.translate(_QUOTES)


def rows() -> dict[str, GuideRow]:
    """The rows of the guide's table by their situations."""
    _, _, after = PAGE.read_text().partition(HEADING)
    table, _, _ = after.partition("\n## ")
    found = {}
    for line in table.splitlines():
        cells = [_LINK.sub(r"\1", cell).strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] != "situation":
            found[cells[0]] = GuideRow(*cells)
    return found
