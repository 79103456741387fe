"""The reference, as Markdown: operations in the order of docs/reference/operations.txt, drawn from
the API's description and examples."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from django.conf import settings

from apps.core.messages.fields import Schema
from apps.docs.markdown import anchor_of
from apps.docs.samples import Example, samples

FOLDER: Path = settings.BASE_DIR / "docs" / "reference"
METHODS = ("get", "post", "patch", "put", "delete")
DEPTH_MAX = 3
_GROUP = re.compile(r"\[([a-z0-9-]+)\] (.+)")


class ApiOperation(NamedTuple):
    method: str
    path: str
    title: str


class OperationGroup(NamedTuple):
    """A page of the reference."""

    slug: str
    title: str
    operations: list[ApiOperation]


def groups() -> list[OperationGroup]:
    all_groups: list[OperationGroup] = []
    for line in (FOLDER / "operations.txt").read_text().splitlines():
        heading = _GROUP.fullmatch(line)
        if heading:
            all_groups.append(OperationGroup(heading[1], heading[2], []))
        elif " | " in line:
            call, title = line.split(" | ")
            method, path = call.split(" ")
            all_groups[-1].operations.append(ApiOperation(method, path, title))
    return all_groups


def page_of(group: OperationGroup, description: Schema) -> str:
    parts = [f"# {group.title}", _contents(group)]
    for operation in group.operations:
        parts += list(_operation(operation, description))
    return "\n\n".join(parts) + "\n"


def _contents(group: OperationGroup) -> str:
    lines = ["| operation | call |", "|---|---|"]
    return "\n".join(
        [
            *lines,
            *(
                f"| [{operation.title}](#{anchor_of(operation.title)})"
                f" | `{operation.method} {operation.path}` |"
                for operation in group.operations
            ),
        ]
    )


def _operation(operation: ApiOperation, description: Schema) -> Iterator[str]:
    described: Schema = description["paths"][f"/api/v2{operation.path}"][operation.method.lower()]
    yield f"## {operation.title}"
    yield f"`{operation.method} /api/v2{operation.path}`"
    yield _who(described["description"])
    parameters = [
        parameter for parameter in described.get("parameters", []) if parameter["in"] == "query"
    ]
    if parameters:
        yield "### Query"
        rows = (
            (
                parameter["name"],
                _type(parameter["schema"], description),
                parameter.get("required", False),
            )
            for parameter in parameters
        )
        yield _table(rows, "?")
    body = next(iter(described.get("requestBody", {}).get("content", {}).values()), None)
    if body is not None:
        yield "### Body"
        yield _table(_fields(body["schema"], description), ".")
    example = examples()[f"{operation.method} {operation.path}"]
    yield "### Example"
    yield samples(operation.method, example, _credential(operation, described))
    yield _answer(example)
    own = list(_own_refusals(described, description))
    if own:
        yield "### Errors"
        yield "\n".join(["| status | when |", "|---|---|", *own])


def _who(text: str) -> str:
    return text.replace("Budget `", "[Rate limit](../limits.md): `")


def _credential(operation: ApiOperation, described: Schema) -> str:
    schemes = [name for requirement in described["security"] for name in requirement]
    if not schemes:
        return "nobody"
    if "session" in schemes:
        return "session"
    if operation.path.startswith("/agentic"):
        return "agent"
    return "key" if "basic" in schemes else "token"


def _answer(example: Example) -> str:
    if example.response is None:
        content = f"a file of the type `{example.type}`" if example.type else "no body"
        return f"Response: `{example.status}`, {content}."
    text = json.dumps(example.response, indent=2, ensure_ascii=False)
    return f"Response: `{example.status}`. Lists are shortened.\n\n```json\n{text}\n```"


def _own_refusals(described: Schema, description: Schema) -> Iterator[str]:
    """What this operation says beyond what every one says."""
    every = usual(description)
    for status, answer in described["responses"].items():
        if status >= "400" and answer["description"] != every[status]:
            yield f"| `{status}` | {answer['description']} |"


def usual(description: Schema) -> dict[str, str]:
    """Status -> what most operations say that it means."""
    descriptions: dict[str, Counter[str]] = {}
    for methods in description["paths"].values():
        for method in METHODS:
            for status, answer in methods.get(method, {}).get("responses", {}).items():
                descriptions.setdefault(status, Counter())[answer["description"]] += 1
    return {status: words.most_common(1)[0][0] for status, words in descriptions.items()}


@cache
def examples() -> dict[str, Example]:
    return msgspec.json.decode((FOLDER / "examples.json").read_bytes(), type=dict[str, Example])


@cache
def meanings() -> dict[str, str]:
    """Name of a field -> what it means, wherever it stands."""
    lines = (FOLDER / "fields.txt").read_text().splitlines()
    return dict(line.split(" | ", 1) for line in lines if " | " in line)


# The objects that most integrators read, in the order of the reference, and what they are called
# there.
OBJECTS = {
    "PaymentIntentDetail": "Payment",
    "PaymentAddress": "Payment address",
    "Transaction": "Deposit",
    "LateDeposit": "Late deposit",
    "Refund": "Refund",
    "WebhookEndpoint": "Webhook endpoint",
    "WebhookDelivery": "Webhook delivery",
    "Balance": "Balance",
    "Payout": "Payout",
    "PayoutSchedule": "Payout schedule",
    "Swap": "Swap",
    "SupportedAsset": "Asset",
    "Customer": "Customer",
    "Product": "Product",
    "Price": "Price",
    "Subscription": "Subscription",
    "Invoice": "Invoice",
    "InvoiceLine": "Invoice line",
    "Mandate": "Mandate",
    "Settlement": "Settlement",
}


def objects(description: Schema) -> str:
    """What the fields of answers mean."""
    parts = [
        "# Objects",
        (
            "What the fields of answers mean. Times are ISO 8601 in UTC with microseconds. Amounts"
            " named `…_atomic` are integers as text, in the asset's smallest unit; amounts named"
            " `…_cents` are integers, in hundredths of the currency. New fields may be added at any"
            " time: ignore those that you don't know."
        ),
    ]
    for name, title in OBJECTS.items():
        fields = description["components"]["schemas"][name]["properties"]
        rows = [
            f"| `{field}` | {_type(schema, description)} | {_meaning(name, field)} |"
            for field, schema in fields.items()
        ]
        parts += [f"## {title}", "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _meaning(name: str, field: str) -> str:
    return meanings().get(f"{name}.{field}") or meanings().get(field, "")


# --- fields ---------------------------------------------------------------------------------------


def _table(rows: Iterable[tuple[str, str, bool]], where: str) -> str:
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for name, kind, is_required in rows:
        meaning = (
            meanings().get(f"{where}{name}")
            or meanings().get(name)
            or meanings().get(name.rpartition(".")[2], "")
        )
        need = "**Required.** " if is_required else ""
        lines.append(f"| `{name}` | {kind} | {need}{meaning} |")
    return "\n".join(lines)


def _fields(
    schema: Schema, description: Schema, prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, str, bool]]:
    whole = _resolved(schema, description)
    for name, field in whole.get("properties", {}).items():
        inner = _resolved(field, description)
        full = f"{prefix}{name}"
        is_required = name in whole.get("required", [])
        if inner.get("properties") and depth < DEPTH_MAX:
            yield full, "object, with the fields below", is_required
            yield from _fields(inner, description, f"{full}.", depth + 1)
            if depth == 0 and prefix == "" and set(inner["properties"]) <= set(whole["properties"]):
                return  # the same fields may stand without the wrapper
            continue
        yield full, _type(field, description), is_required
        items = _resolved(inner.get("items", {}), description)
        if items.get("properties") and depth < DEPTH_MAX:
            yield from _fields(items, description, f"{full}[].", depth + 1)


def _resolved(schema: Schema, description: Schema) -> Schema:
    """What a reference leads to, and of several shapes the first that has fields."""
    if "$ref" in schema:
        return _resolved(
            description["components"]["schemas"][schema["$ref"].rpartition("/")[2]], description
        )
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return next(
            (
                variant
                for variant in (_resolved(each, description) for each in several)
                if variant.get("type") != "null"
            ),
            {},
        )
    return schema


def _type(schema: Schema, description: Schema) -> str:
    whole = _resolved(schema, description)
    if "enum" in whole:
        return "one of " + ", ".join(f"`{value}`" for value in whole["enum"] if value is not None)
    if "const" in whole:
        return f"`{whole['const']}`"
    kind = str(whole.get("type", "any"))
    if kind == "array":
        return f"list of {_type(whole.get('items', {}), description)}"
    limits = [f"at most {whole['maxLength']} characters"] if "maxLength" in whole else []
    limits += [f"from {whole['minimum']}"] if "minimum" in whole else []
    limits += [f"up to {whole['maximum']}"] if "maximum" in whole else []
    type_name = {"date-time": "time", "uuid": "UUID", "date": "date", "uri": "URL"}.get(
        whole.get("format", ""), kind
    )
    return ", ".join([type_name, *limits])
