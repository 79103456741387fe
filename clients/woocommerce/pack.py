"""The plugin as a zip that WordPress takes: python3 clients/woocommerce/pack.py [folder]

The same sources give the same bytes. With --texts it writes tillgate/languages/tillgate.pot, which
translators begin with.
"""

import re
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLUGIN = HERE / "tillgate"
POT = PLUGIN / "languages" / "tillgate.pot"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
HEADER = """\
msgid ""
msgstr ""
"Project-Id-Version: Tillgate for WooCommerce\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"X-Domain: tillgate\\n"
"""
_TEXT = re.compile(
    r"(?:/\* (translators: [^*]*) \*/\s*)?[^\n]*?\b(?:esc_html)?__\( '((?:[^'\\]|\\.)*)',"
    r" 'tillgate' \)"
)


def sources() -> list[Path]:
    return sorted(path for path in PLUGIN.rglob("*") if path.is_file())


def version() -> str:
    """It stands in three places, which have to agree."""
    patterns = {
        "tillgate.php": r"\* Version: (\S+)|'TILLGATE_VERSION', '([^']+)'",
        "readme.txt": r"Stable tag: (\S+)",
    }
    found = {
        next(filter(None, one.groups()))
        for name, pattern in patterns.items()
        for one in re.finditer(pattern, (PLUGIN / name).read_text())
    }
    (only,) = found
    return only


def texts() -> str:
    """Every text of the plugin, where it stands and what its placeholders are."""
    entries: dict[str, list[str]] = {}
    for path in sources():
        if path.suffix != ".php":
            continue
        source = path.read_text()
        for one in _TEXT.finditer(source):
            text = one[2].replace("\\'", "'").replace('"', '\\"')
            line = source.count("\n", 0, one.start(2)) + 1
            notes = entries.setdefault(text, [f"#. {one[1]}"] if one[1] else [])
            notes.append(f"#: {path.relative_to(PLUGIN)}:{line}")
    return HEADER + "".join(
        "\n" + "\n".join(notes) + f'\nmsgid "{text}"\nmsgstr ""\n'
        for text, notes in entries.items()
    )


def pack(folder: Path) -> Path:
    target = folder / f"tillgate-woocommerce-{version()}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sources():
            named = zipfile.ZipInfo(str(path.relative_to(HERE)), LONG_AGO)
            named.external_attr = 0o644 << 16
            named.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(named, path.read_bytes())
    return target


if __name__ == "__main__":
    if sys.argv[1:] == ["--texts"]:
        POT.write_text(texts())
    else:
        print(pack(Path(*sys.argv[1:]) if sys.argv[1:] else Path.cwd()))  # noqa: T201  the command's answer
