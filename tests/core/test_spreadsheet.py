"""No cell of a CSV file is a formula, whichever signs a spreadsheet looks past or reads as another;
LibreOffice, where it is installed, has the last word."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

from apps.core.documents.spreadsheet import lines, safe_cell

SIGNS = [*"=+-@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\u207c", "\u2212"]
# What may come before the sign and be looked past: white space, marks of order, invisible letters.
BEFORE = ["", " ", "\n", "\r", "\t", "\x00", "\u00a0", "\ufeff"]
BEFORE += ["\u200b", "\u3000", "\u2028", "\u202e"]
FORMULAS = [f"{before}{sign}1+1" for sign in SIGNS for before in BEFORE]
HARMLESS = ["", "-1.50", "-0", "12", "Ada", "a=b", "(-1)", "1-1", " Ada"]
HARMLESS += ["'=1+1", "\u00e9t\u00e9", "\u00bd"]


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_what_begins_a_formula_gets_an_apostrophe(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS, ids=ascii)
def test_what_begins_none_stays_as_it_is(text: str) -> None:
    assert safe_cell(text) == text


@pytest.mark.parametrize("text", ["\nAda", "\tAda", "\rAda"], ids=ascii)
def test_a_cell_that_begins_with_a_break_gets_an_apostrophe(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.whole
@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice Calc isn't installed")
def test_libreoffice_calculates_nothing_of_it(tmp_path: Path) -> None:
    """Read with every option that makes it calculate, and written again: 1+1 is 2 nowhere."""
    source = tmp_path / "cells.csv"
    texts = [text for text in FORMULAS if "\x00" not in text]
    source.write_text("".join(lines(["control", "cell"], [["x", text] for text in texts])))
    with source.open("a", encoding="utf-8") as file:
        file.write("x,=1+1\r\n")
    # Comma, quote, UTF-8, from line 1, cells as they are, detect numbers, formulas calculated.
    reading = "CSV:44,34,76,1,,0,false,true,false,false,false,-1,true"
    command = ["soffice", f"-env:UserInstallation=file://{tmp_path}/home", "--headless"]
    command += [f"--infilter={reading}", "--outdir", str(tmp_path / "out")]
    command += ["--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76", str(source)]
    subprocess.run(
        command,
        check=True,
        capture_output=True,
        timeout=120,
    )
    with (tmp_path / "out" / "cells.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row[1] for row in csv.reader(file)]
    assert rows[-1] == "2", "a formula without its apostrophe is calculated"
    assert "2" not in rows[:-1]
