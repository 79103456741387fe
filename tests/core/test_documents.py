"""A document's schema comes from its class: lists, pages and choices of documents too."""

from typing import Literal

from jsonschema_rs import Draft202012Validator
from msgspec import UNSET, UnsetType, to_builtins

from apps.core.messages.documents import Document, ListPage, PageFigures, fields_of, schema_of
from tests.described import closed


class Crumb(Document, frozen=True, kw_only=True):
    name: str
    note: str | UnsetType | None = UNSET


class Cake(Document, frozen=True, kw_only=True):
    kind: Literal["round", "flat"]
    crumbs: list[Crumb]
    weights: dict[str, int]


def takes(told: object, value: object) -> bool:
    return Draft202012Validator(closed(schema_of(told))).is_valid(value)


CRUMB = {"name": "a"}
CAKE = {"kind": "round", "crumbs": [{"name": "a", "note": None}], "weights": {"a": 1}}


def test_what_is_encoded_has_the_shape_told() -> None:
    cake = Cake(kind="round", crumbs=[Crumb(name="a", note=None)], weights={"a": 1})
    assert to_builtins(cake) == CAKE and takes(Cake, CAKE)
    assert not takes(Cake, {**CAKE, "kind": "square"})
    assert not takes(Cake, {**CAKE, "weights": {"a": "heavy"}})
    assert not takes(Cake, {**CAKE, "color": "red"})


def test_a_page_is_told_with_its_figures() -> None:
    page = ListPage(
        data=[Crumb(name="a")], meta=PageFigures(page=1, per_page=25, total=1, total_pages=1)
    )
    assert takes(ListPage[Crumb], to_builtins(page))
    assert not takes(ListPage[Crumb], {"data": [CRUMB]})
    assert not takes(ListPage[Cake], to_builtins(page))


def test_a_list_and_a_choice_of_documents_are_told() -> None:
    assert takes(list[Crumb], [CRUMB, CRUMB]) and not takes(list[Crumb], [CAKE])
    assert takes(Crumb | Cake, CRUMB) and takes(Crumb | Cake, CAKE) and not takes(Crumb | Cake, {})


def test_a_document_within_another_is_told_as_the_caller_wants_it() -> None:
    told = fields_of(Cake, lambda cls: {"$ref": cls.__name__})
    assert told["properties"]["crumbs"] == {"type": "array", "items": {"$ref": "Crumb"}}
