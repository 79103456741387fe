"""Collects what customers read into locale/<code>/LC_MESSAGES/django.po and compiles it; needs no
gettext.

`python -m dev.messages` collects and compiles; after a conflict in locale/ it joins both sides.
`export de` prints what is still to be translated as JSON, `import de < file.json` takes the same
with translations. Catalogs are sorted and hold nothing that depends on when or where.
"""

import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
# THE list of what is said to customers.
TEMPLATES = (
    "base.html",
    "error.html",
    "400.html",
    "403.html",
    "404.html",
    "429.html",
    "500.html",
    "503.html",
    "hosted/**/*.html",
    "parts/*.html",
    "email/_customer.*",
    "email/_invoice_facts.html",
    "email/_layout.*",
    "email/invoice_*.*",
    "email/payment_receipt.*",
    "email/portal_link.*",
    "email/refund_address.*",
    "email/subscription_*.*",
    "pdf/*invoice.html",
    "pdf/_*_head.html",
    "pdf/_test.css",
)
PYTHON = (
    "apps/*/customer_badges.py",
    "apps/billing/invoices/files.py",
    "apps/console/status.py",
    "apps/core/templatetags/tillgate.py",
    "apps/hosted/*.py",
    "apps/payments/documents/invoice.py",
)
KEYWORDS: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
}
Id = tuple[str, str]  # what is said of one, and of several (empty without a plural)


@dataclass
class Catalog:
    """One language's translations by message; a message without any has empty texts."""

    language: str
    texts: dict[Id, tuple[str, ...]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        from django.utils.translation import to_locale

        return LOCALE / to_locale(self.language) / "LC_MESSAGES" / "django.po"

    @property
    def plural_count(self) -> int:
        return self._plural()[0]

    @property
    def missing(self) -> list[Id]:
        return sorted(id for id, texts in self.texts.items() if not all(texts))

    def empty(self, id: Id) -> tuple[str, ...]:
        return ("",) * (self.plural_count if id[1] else 1)

    def header(self) -> str:
        count, expression = self._plural()
        lines = [
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: 8bit",
            f"Language: {self.language}",
        ]
        return "".join(
            f"{line}\n"
            for line in [*lines, f"Plural-Forms: nplurals={count}; plural={expression};"]
        )

    def _plural(self) -> tuple[int, str]:
        from babel.messages.plurals import get_plural
        from django.utils.translation import to_locale

        form = get_plural(to_locale(self.language))
        return form.num_plurals, form.plural_expr


def set_up() -> None:
    import django
    from django.apps import apps

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if not apps.ready:
        django.setup()


def languages() -> list[str]:
    """Those that are translated into."""
    from django.conf import settings

    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def collect() -> set[Id]:
    """Every message that customers' templates and code can say."""
    return {*_of_templates(), *_of_python()}


def _of_templates() -> Iterator[Id]:
    from django.template import Node, engines
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    for path in _files(ROOT / "templates", TEMPLATES):
        template = engines["django"].get_template(str(path.relative_to(ROOT / "templates")))
        for node in template.template.nodelist.get_nodes_by_type(Node):  # type: ignore[attr-defined]  # Django's own engine
            if isinstance(node, TranslateNode):
                yield node.filter_expression.var.literal, ""
            elif isinstance(node, BlockTranslateNode):
                singular, _ = node.render_token_list(node.singular)
                plural = node.render_token_list(node.plural)[0] if node.plural else ""
                yield singular, plural


def _of_python() -> Iterator[Id]:
    from babel.messages.extract import extract

    for path in _files(ROOT, PYTHON):
        for _, message, _, _ in extract(
            "python", BytesIO(path.read_bytes()), keywords=KEYWORDS, options={"encoding": "utf-8"}
        ):
            yield (message[0], message[1]) if isinstance(message, tuple) else (message, "")


def _files(root: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in root.glob(pattern)})


def read(language: str) -> Catalog:
    """What stands in the file; nothing without one. Of a conflict both sides, so that no
    translation of either is lost."""
    catalog = Catalog(language)
    if not catalog.path.exists():
        return catalog
    content = catalog.path.read_bytes()
    for text in _both_sides(catalog.path) if b"\n<<<<<<< " in content else [content]:
        catalog.texts |= {
            id: texts for id, texts in _parsed(text) if all(texts) or id not in catalog.texts
        }
    return catalog


def _both_sides(path: Path) -> list[bytes]:
    names = [f":{stage}:{path.relative_to(ROOT)}" for stage in (2, 3)]
    return [
        subprocess.run(["git", "show", name], cwd=ROOT, capture_output=True, check=True).stdout
        for name in names
    ]


def _parsed(content: bytes) -> Iterator[tuple[Id, tuple[str, ...]]]:
    from babel.messages.pofile import read_po

    for message in read_po(BytesIO(content), charset="utf-8"):
        if message.id:
            id = (message.id, "") if isinstance(message.id, str) else (message.id[0], message.id[1])
            yield (
                id,
                (message.string,)
                if isinstance(message.string, str)
                else tuple(message.string or ()),
            )


def update(catalog: Catalog, messages: set[Id]) -> Catalog:
    """With exactly these messages. No translation is guessed from a similar one."""
    return Catalog(
        catalog.language, {id: catalog.texts.get(id) or catalog.empty(id) for id in messages}
    )


def po_text(catalog: Catalog) -> str:
    entries = [
        _entry(("", ""), (catalog.header(),)),
        *(_entry(id, catalog.texts[id]) for id in sorted(catalog.texts)),
    ]
    return "\n".join(entries)


def _entry(id: Id, texts: tuple[str, ...]) -> str:
    is_formatted = "python-format" if re.search(r"%[(ds]", "".join(id)) else ""
    lines = [f"#, {is_formatted}"] if is_formatted else []
    lines.append(f"msgid {_quoted(id[0])}")
    if id[1]:
        lines += [
            f"msgid_plural {_quoted(id[1])}",
            *(f"msgstr[{number}] {_quoted(text)}" for number, text in enumerate(texts)),
        ]
    else:
        lines.append(f"msgstr {_quoted(texts[0])}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    def line(part: str) -> str:
        escaped = (
            part.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n")
        )
        return f'"{escaped}"'

    parts = text.splitlines(keepends=True)
    return line(text) if len(parts) < 2 else "\n".join(['""', *map(line, parts)])


def mo_bytes(catalog: Catalog) -> bytes:
    """As `msgfmt` makes it: what isn't translated is left out, and is then said in English."""
    pairs = {"": catalog.header()}
    for id, texts in catalog.texts.items():
        if all(texts):
            pairs["\0".join(id) if id[1] else id[0]] = "\0".join(texts)
    encoded = sorted((key.encode(), text.encode()) for key, text in pairs.items())
    keys = b""
    texts_ = b""
    start = 7 * 4 + 16 * len(encoded)
    key_table = []
    text_table = []
    for key, text in encoded:
        key_table += [len(key), start + len(keys)]
        text_table += [len(text), len(texts_)]
        keys = keys + key + b"\0"
        texts_ = texts_ + text + b"\0"
    text_table = [
        number + (start + len(keys) if place % 2 else 0) for place, number in enumerate(text_table)
    ]
    head = struct.pack("<7I", 0x950412DE, 0, len(encoded), 28, 28 + 8 * len(encoded), 0, start)
    return head + struct.pack(f"<{4 * len(encoded)}I", *key_table, *text_table) + keys + texts_


def write(catalog: Catalog) -> None:
    catalog.path.parent.mkdir(parents=True, exist_ok=True)
    catalog.path.write_text(po_text(catalog), "utf-8")
    catalog.path.with_suffix(".mo").write_bytes(mo_bytes(catalog))


def exported(catalog: Catalog, *, is_whole: bool) -> str:
    """`[{"id": …, "text": …}]`, where a plural has `plural` and a list of texts."""
    ids = sorted(catalog.texts) if is_whole else catalog.missing
    return (
        json.dumps([_row(id, catalog.texts[id]) for id in ids], ensure_ascii=False, indent=1) + "\n"
    )


def _row(id: Id, texts: tuple[str, ...]) -> dict[str, str | list[str]]:
    return (
        {"id": id[0], "plural": id[1], "text": list(texts)}
        if id[1]
        else {"id": id[0], "text": texts[0]}
    )


def imported(catalog: Catalog, text: str) -> int:
    """Takes the translations of messages that there are; how many."""
    count = 0
    for row in json.loads(text):
        id = (row["id"], row.get("plural", ""))
        texts = tuple(row["text"]) if id[1] else (row["text"],)
        if id in catalog.texts and len(texts) == len(catalog.empty(id)) and all(texts):
            catalog.texts[id] = texts
            count += 1
        else:
            sys.stderr.write(f"not taken: {row['id'][:80]!r}\n")
    return count


def main(arguments: list[str]) -> None:
    set_up()
    messages = collect()
    if arguments[:1] == ["export"]:
        sys.stdout.write(
            exported(update(read(arguments[1]), messages), is_whole="--all" in arguments)
        )
        return
    for language in languages():
        catalog = update(read(language), messages)
        if arguments == ["import", language]:
            sys.stderr.write(f"{imported(catalog, sys.stdin.read())} taken\n")
        write(catalog)
        sys.stderr.write(
            f"{language}: {len(messages)} messages, {len(catalog.missing)} to translate\n"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
