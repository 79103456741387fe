"""Collects what customers and merchants read into locale/<code>/LC_MESSAGES/django.po and compiles
it; needs no gettext. Customers read every language, merchants those of `DASHBOARD_LANGUAGES`.

`python -m dev.messages` collects and compiles; after a conflict in locale/ it joins both sides.
`export de` prints what is still to be translated as JSON, `import de < file.json` takes the same
with translations. Catalogs are sorted and hold nothing that depends on when or where.
"""

import ast
import json
import os
import pkgutil
import re
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

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
    "email/credit_note.*",
    "email/invoice_*.*",
    "email/payment_receipt.*",
    "email/portal_link.*",
    "email/refund_address.*",
    "email/subscription_*.*",
    "pdf/*invoice.html",
    "pdf/billing_credit_note.html",
    "pdf/_seller_buyer.html",
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
# THE list of what is said to merchants; refusals of services are collected by themselves.
MERCHANT_EMAILS = (
    "_notice account_changed credentials_shrunk daily_summary destination_named email_change"
    " invitation member_removed new_sign_in notification operation password_reset payout_approval"
    " payout_approval_decided platform_fee_raised review_outcome sign_up_code sign_up_known"
    " webhook_endpoint_off"
)
MERCHANT_TEMPLATES = (
    "dashboard/**/*.html",
    "front/*.html",
    *(f"email/{name}.*" for name in MERCHANT_EMAILS.split()),
)
MERCHANT_PYTHON = ("apps/**/*.py",)
# Packages whose refusals no page of the dashboard shows.
NOT_SHOWN = (
    "apps.agents.requests.",
    "apps.agents.services.x402",
    "apps.api.",
    "apps.audit.",
    "apps.chain.",
    "apps.console.",
    "apps.ledger.",
    "apps.mcp.",
    "apps.onramp.",
    "apps.payments.services.coin_search",
    "apps.payments.services.corrections",
    "apps.payments.services.treasury",
    "apps.payments.services.undecided",
    "apps.payments.services.withdrawals",
    "apps.staff.",
    "apps.stores.staff.",
    "apps.stores.staff_roles",
)
# Those within them that pages show.
SHOWN = ("apps.chain.addresses", "apps.chain.own.")
# Functions that are given messages, and how many texts each.
KEYWORDS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop", "Worded"), 1),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), 2),
}
_CONSTANT = re.compile(r"""_\((?:"([^"]+)"|'([^']+)')\)""")
_TABLE = re.compile(r"\{% table (.*?) %\}")
_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}")
_RECORDED = re.compile(r"""\b_?(?:record|note\w*)\((?:\s*\w+,)*\s*"([a-z_]+\.[a-z_]+)\"""")
_HEADING = re.compile(r'(yesno:)?"([^"]+)"')
# Between the context of a message, where it has one, and its text, as gettext has it.
_OF_CONTEXT = "\x04"
Id = tuple[str, str]  # what is said of one, and of several (empty without a plural)


@dataclass
class Catalog:
    """A language's translations by message; a message without any has empty texts."""

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


def merchants_languages() -> list[str]:
    from django.conf import settings

    return [code for code, _ in settings.DASHBOARD_LANGUAGES if code != settings.LANGUAGE_CODE]


def collect(language: str = "") -> set[Id]:
    """Every message that is said in a language; without one, those of customers, which are said in
    all."""
    customers = {*_of_templates(TEMPLATES), *_of_python(PYTHON)}
    return customers | (collect_for_merchants() if language in merchants_languages() else set())


@cache
def collect_for_merchants() -> frozenset[Id]:
    """Every message that the dashboard can say."""
    return frozenset(
        {
            *_of_templates(MERCHANT_TEMPLATES),
            *_of_arguments(MERCHANT_TEMPLATES),
            *_of_python(MERCHANT_PYTHON),
            *_of_refusals(),
            *_of_tables(),
        }
    )


def _nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """Nodes with those inside them; of a tag's block Django itself doesn't tell."""
    from django.template.library import SimpleBlockNode

    for node in nodes:
        yield node
        lists = ("nodelist",) if isinstance(node, SimpleBlockNode) else node.child_nodelists
        for name in lists:
            yield from _nodes(getattr(node, name, None) or ())


def _of_templates(patterns: Iterable[str]) -> Iterator[Id]:
    from django.template import engines
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    for path in _files(ROOT / "templates", patterns):
        template = engines["django"].get_template(str(path.relative_to(ROOT / "templates")))
        for node in _nodes(template.template.nodelist):  # type: ignore[attr-defined]  # Django's own engine
            if isinstance(node, TranslateNode):
                # As Django looks it up.
                literal = str(node.filter_expression.var.literal).replace("%", "%%")
                yield _in_context(node.message_context, literal), ""
            elif isinstance(node, BlockTranslateNode):
                singular, _ = node.render_token_list(node.singular)
                plural = node.render_token_list(node.plural)[0] if node.plural else ""
                yield _in_context(node.message_context, singular), plural


def _in_context(context: Any, text: str) -> str:
    return f"{context.var}{_OF_CONTEXT}{text}" if context is not None else text


def _of_arguments(patterns: Iterable[str]) -> Iterator[Id]:
    """Words that tags are given: `_("…")`, and the headings of tables."""
    for path in _files(ROOT / "templates", patterns):
        text = path.read_text("utf-8")
        for tag in _TAG.findall(text):
            for double, single in _CONSTANT.findall(tag):
                yield (double or single).replace("%", "%%"), ""
        for headings in _TABLE.findall(text):
            for is_choice, heading in _HEADING.findall(headings):
                for words in heading.split(",") if is_choice else [heading]:
                    yield words.partition(":")[0], ""


def _is_shown(name: str) -> bool:
    """Tell whether pages of the dashboard show what a module refuses."""
    return name.startswith(SHOWN) or not name.startswith(NOT_SHOWN)


def _of_refusals() -> Iterator[Id]:
    """Sentences of failures, of their classes and where they are raised, and of broken rules."""
    from apps.core.errors import Failure
    from apps.core.messages.invalid import SENTENCES

    for module in pkgutil.walk_packages([str(ROOT / "apps")], "apps."):
        if _is_shown(module.name) and ".migrations" not in module.name:
            import_module(module.name)
    kinds = {
        kind
        for kind in _subclasses(Failure)
        if kind.__module__.startswith("apps.") and _is_shown(kind.__module__)
    }
    yield from ((kind.message, "") for kind in kinds if " " in kind.message)  # else a code
    yield from ((sentence, "") for sentence in SENTENCES.values())
    names = {kind.__name__ for kind in kinds} | {Failure.__name__}
    for path in _files(ROOT, MERCHANT_PYTHON):
        if _is_shown(".".join(path.relative_to(ROOT).parts)):
            yield from _raised(path, names)


def _of_tables() -> Iterator[Id]:
    """Words of tables that are in English for programs and emails: choices of models, kinds of
    notifications, and what the audit log says."""
    from django.db.models import TextChoices

    from apps.assets.audit_details import LABELS
    from apps.audit.logged import SETTINGS as LOGGED
    from apps.stores.audit_words import action_words
    from apps.stores.notices.kinds import CHOICES, KINDS
    from apps.stores.settings import labels_of_settings

    for kind in _subclasses(TextChoices):
        if kind.__module__.startswith("apps.") and not kind.__module__.startswith(NOT_SHOWN):
            yield from ((str(label), "") for label in kind.labels if label)
    for notice in KINDS.values():
        yield from ((text, "") for text in (notice.label, notice.says, notice.always) if text)
    tables = (CHOICES, LABELS, labels_of_settings())
    yield from ((text, "") for table in tables for text in table.values())
    actions = {action for settings in LOGGED for action in settings.actions}
    for path in _files(ROOT, MERCHANT_PYTHON):
        actions |= {*_RECORDED.findall(path.read_text("utf-8"))}
    yield from ((action_words(action), "") for action in actions)


def _subclasses(kind: type) -> Iterator[Any]:
    own: list[type] = kind.__subclasses__()
    for one in own:
        yield one
        yield from _subclasses(one)


def _raised(path: Path, names: set[str]) -> Iterator[Id]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            first = node.args[0] if node.args else None
            if name in names and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value, ""


def _of_python(patterns: Iterable[str]) -> Iterator[Id]:
    """Texts inside f-strings are found as well, which Babel reads as one text."""
    for path in _files(ROOT, patterns):
        content = path.read_text("utf-8")
        if "gettext" in content or "Worded(" in content:
            yield from _called(content)


def _called(content: str) -> Iterator[Id]:
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Call) and _name_of(node) in KEYWORDS:
            count = KEYWORDS[_name_of(node)]
            texts = [
                part.value
                for part in node.args[:count]
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            if len(texts) == count and texts[0]:
                yield texts[0], texts[1] if count > 1 else ""


def _name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _files(root: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in root.glob(pattern)})


def read(language: str) -> Catalog:
    """Catalog of the file; empty without one. Of a conflict both sides, so that no translation of
    either is lost."""
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
            one, several = (
                (message.id, "") if isinstance(message.id, str) else (message.id[0], message.id[1])
            )
            context = f"{message.context}{_OF_CONTEXT}" if message.context else ""
            yield (
                (f"{context}{one}", several),
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
    context, _, one = id[0].rpartition(_OF_CONTEXT)
    if context:
        lines.append(f"msgctxt {_quoted(context)}")
    lines.append(f"msgid {_quoted(one)}")
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
    if arguments[:1] == ["export"]:
        wanted = update(read(arguments[1]), collect(arguments[1]))
        sys.stdout.write(exported(wanted, is_whole="--all" in arguments))
        return
    for language in languages():
        messages = collect(language)
        catalog = update(read(language), messages)
        if arguments == ["import", language]:
            sys.stderr.write(f"{imported(catalog, sys.stdin.read())} taken\n")
        write(catalog)
        sys.stderr.write(
            f"{language}: {len(messages)} messages, {len(catalog.missing)} to translate\n"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
