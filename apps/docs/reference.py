"""The reference, as Markdown: operations in the order of docs/reference/operations.txt, drawn from
the API's description and examples."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec

from apps.core.messages.fields import Schema
from apps.docs.fields import FOLDER, fields_of, meanings, table, type_of
from apps.docs.markdown import anchor_of
from apps.docs.samples import ITEMS_MAX, Example, samples

METHODS = ("get", "post", "patch", "put", "delete")
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


def page_of(group: OperationGroup, description: Schema, every: Mapping[str, str]) -> str:
    """`every` is what each status usually means, which an operation doesn't repeat."""
    parts = [f"# {group.title}", _contents(group)]
    for operation in group.operations:
        parts += list(_operation(operation, description, every))
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


def _operation(
    operation: ApiOperation, description: Schema, every: Mapping[str, str]
) -> Iterator[str]:
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
                type_of(parameter["schema"], description),
                parameter.get("required", False),
            )
            for parameter in parameters
        )
        yield table(rows, "?")
    body = next(iter(described.get("requestBody", {}).get("content", {}).values()), None)
    if body is not None:
        yield "### Body"
        yield table(fields_of(body["schema"], description), ".")
    example = examples()[f"{operation.method} {operation.path}"]
    yield "### Example"
    yield samples(operation.method, example, _credential(operation, described))
    yield _answer(example)
    own = list(_own_refusals(described, every))
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
    note = " Lists are shortened." if _may_be_shortened(example.response) else ""
    return f"Response: `{example.status}`.{note}\n\n```json\n{text}\n```"


def _may_be_shortened(value: Any) -> bool:
    """Tells whether one of its lists has as many items as an example shows."""
    if isinstance(value, dict):
        return any(map(_may_be_shortened, value.values()))
    if isinstance(value, list):
        return len(value) == ITEMS_MAX or any(map(_may_be_shortened, value))
    return False


def _own_refusals(described: Schema, every: Mapping[str, str]) -> Iterator[str]:
    """Refusals of this operation beyond those of every one."""
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
    """Meanings of the fields of answers."""
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
            f"| `{field}` | {type_of(schema, description)} | {_meaning(name, field)} |"
            for field, schema in fields.items()
        ]
        parts += [f"## {title}", "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _meaning(name: str, field: str) -> str:
    return meanings().get(f"{name}.{field}") or meanings().get(field, "")
