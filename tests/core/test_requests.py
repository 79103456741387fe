"""Requests: msgspec's check in C and ours in words agree about every body, and every broken rule
has a sentence that fits it."""

import ast
import random
import re
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from msgspec import UNSET, UnsetType

from apps.core.messages.fields import (
    AtomicAmount,
    Boolean,
    FiatAmount,
    Integer,
    List,
    Metadata,
    Text,
    Url,
)
from apps.core.messages.invalid import SENTENCES, Invalid
from apps.core.messages.requests import Changes, Edits, Request, Shape, by, shape_of
from tests.house.files import ROOT, trees


class Line(Request, frozen=True, kw_only=True):
    description: Annotated[str, by(Text(5, shortest=1))]
    quantity: Annotated[int, by(Integer(1, 9))] = 1
    image_url: Annotated[str, by(Url())] | None = None


class Owner(Request, frozen=True, kw_only=True):
    name: Annotated[str, by(Text(8, trim=True, shortest=1))]


class Body(Request, frozen=True, kw_only=True):
    amount: Annotated[str, by(FiatAmount())]
    kind: Annotated[str, by(Text(10, choices=("order", "refund")))]
    atomic: Annotated[str, by(AtomicAmount())] | None = None
    count: Annotated[int, by(Integer(0, 100))] = 7
    is_big: bool | None = None
    owner: Owner | None = None
    metadata: Annotated[dict[str, str], by(Metadata())] = {}
    lines: Annotated[list[Line], by(List(Shape({}), 3))] = []


# The same, as it was written before there were classes.
FIELDS = Shape(
    {
        "amount": FiatAmount(required=True),
        "kind": Text(10, choices=("order", "refund"), required=True),
        "atomic": AtomicAmount(),
        "count": Integer(0, 100, default=7),
        "is_big": Boolean(),
        "owner": Shape({"name": Text(8, trim=True, shortest=1, required=True)}),
        "metadata": Metadata(),
        "lines": List(
            Shape(
                {
                    "description": Text(5, shortest=1, required=True),
                    "quantity": Integer(1, 9, default=1),
                    "image_url": Url(),
                }
            ),
            3,
        ),
    }
)
RIGHT: dict[str, Any] = {"amount": "19.90", "kind": "order"}
ODD: tuple[Any, ...] = (
    *(
        None,
        "",
        " ",
        "x",
        "0",
        "0.00",
        "1.5",
        "1\n",
        "١",
        "order",
        " Bob ",
        "https://a.example/x",
        "http://a.example",
    ),
    *(0, 1, -1, 5, 1.0, 2**70, True, False, [], {}, [None], {"a": "b"}, {"a": 1}, "y" * 300),
    *(
        {"name": " Bob "},
        {"name": "   "},
        {"name": None},
        {"name": "x" * 9},
        {"name": " " * 9 + "x"},
    ),
    *(
        [{"description": "a"}],
        [{"description": "a", "quantity": None}],
        [{"description": "abcdef"}],
        [{}] * 4,
        [{"quantity": 0}],
    ),
    *(
        [{"description": "a"}, {"description": "b", "image_url": "ftp://x"}],
        [{"description": "a", "more": {}}],
    ),
)


def bodies(count: int) -> Iterator[Any]:
    chance = random.Random(160)
    for _ in range(count):
        names = chance.sample([*FIELDS.fields, "unknown"], chance.randint(0, 4))
        yield {**RIGHT, **{name: chance.choice(ODD) for name in names}}
    yield from ODD


def plain(value: Any) -> Any:
    """A request as the tables of fields had it."""
    if isinstance(value, Request):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    return [plain(item) for item in value] if isinstance(value, list) else value


def outcome(read: Any) -> Any:
    try:
        return plain(read())
    except Invalid as refusal:
        return refusal.field, refusal.rule, refusal.params, refusal.text


def test_a_class_takes_and_refuses_what_the_table_of_fields_did_in_the_same_words() -> None:
    refused = 0
    for body in bodies(20_000):
        told = outcome(lambda body=body: Body.read(body, "body"))
        assert told == outcome(lambda body=body: FIELDS.check(body, "body")), body
        refused += isinstance(told, tuple)
    assert 5_000 < refused < 19_000
    assert shape_of(Body).schema() == FIELDS.schema()


def test_a_refusal_names_the_first_broken_field_its_rule_and_its_figures() -> None:
    body = {
        **RIGHT,
        "count": 101,
        "lines": [{"description": "a"}, {"description": "b", "quantity": 10}],
    }
    with pytest.raises(Invalid) as count:
        Body.read(body)
    assert (count.value.field, count.value.rule, count.value.params) == (
        "count",
        "at_most",
        {"maximum": 100},
    )
    with pytest.raises(Invalid) as line:
        Body.read({**body, "count": 1})
    assert (line.value.field, line.value.text) == (
        "lines[1].quantity",
        "lines[1].quantity must be at most 9",
    )


def test_changes_hold_what_was_sent_and_nothing_else() -> None:
    class Product(Changes, frozen=True, kw_only=True):
        name: Annotated[str, by(Text(8, trim=True))] | UnsetType = UNSET
        active: bool | UnsetType = UNSET

    assert Product.read({"name": " Tea ", "active": None}).sent() == {"name": "Tea"}
    assert Product.read({}).sent() == {} and Product.read({"active": False}).active is False
    with pytest.raises(Invalid, match="active must be true or false"):
        Product.read({"active": 1})


def test_a_null_of_an_edit_makes_a_field_what_a_new_record_has_or_is_refused() -> None:
    class Product(Edits, frozen=True, kw_only=True):
        name: Annotated[str, by(Text(8, trim=True))] | UnsetType = UNSET
        text: Annotated[str, by(Text(8))] | UnsetType | None = UNSET
        metadata: Annotated[dict[str, str], by(Metadata())] | UnsetType = UNSET
        lines: Annotated[list[Line], by(List(Shape({}), 3))] | UnsetType | None = UNSET
        active: bool | UnsetType = UNSET

    assert Product.read({}).sent() == {}
    nulls = {"text": None, "metadata": None, "lines": None, "unknown": 1}
    assert Product.read(nulls).sent() == {"text": None, "metadata": {}, "lines": None}
    assert Product.read({"name": " Tea ", "lines": [{"description": "a"}]}).sent() == {
        "name": "Tea",
        "lines": [Line(description="a")],
    }
    for body, words in (
        ({"active": None, "name": None}, "name is required"),
        ({"active": None}, "active is required"),
        ({"lines": [{}]}, "lines\\[0\\].description is required"),
        ([], "product must be an object"),
    ):
        with pytest.raises(Invalid, match=words):
            Product.read(body, "product")


BEGUN = "super().__init__"


def _calls(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def raised() -> Iterator[tuple[str, str, set[str]]]:
    """(place, rule, names of its figures) of every refusal of ours whose rule is written out."""
    for path, tree in trees(r"\bInvalid\b", "apps"):
        mine = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and "Invalid" in map(ast.unparse, node.bases)
        ]
        names = {"Invalid", *(node.name for node in mine)}
        # A class whose rule is always the same names it where it calls the one above it.
        above = {node for one in mine for node in ast.walk(one) if _calls(node) == BEGUN}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (node in above or _calls(node) in names):
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                rule = node.args[1]
                several = [rule.body, rule.orelse] if isinstance(rule, ast.IfExp) else [rule]
                for item in several:
                    if isinstance(item, ast.Constant):
                        yield place, item.value, {str(word.arg) for word in node.keywords}


def test_every_rule_that_is_broken_somewhere_has_a_sentence_and_every_sentence_its_figures() -> (
    None
):
    found = list(raised())
    assert len(found) > 60
    for place, rule, params in found:
        assert rule in SENTENCES, place
        assert set(re.findall(r"{(\w+)", SENTENCES[rule])) - {"field"} <= params, place
    by_pattern = {
        *("decimal_cents", "digits", "decimal", "fraction"),
        *("country", "payer_email", "electronic_address"),
    }
    assert set(SENTENCES) == {rule for _, rule, _ in found} | by_pattern
