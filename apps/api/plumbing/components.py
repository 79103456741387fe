"""Documents by name: each class is described once, and a generated client has a class of the same
name."""

from typing import Any, get_args, get_origin

from apps.api.plumbing.refusals import AnyError, AnyErrors, BlockedOrNot
from apps.core.messages.documents import (
    Data,
    Feed,
    ListPage,
    Paginated,
    fields_of,
    is_document,
    schema_by,
)
from apps.core.messages.fields import Schema

_CHOICES: dict[Any, str] = {
    AnyError: "AnyError",
    AnyErrors: "AnyErrors",
    BlockedOrNot: "ErrorMaybeWithBlockers",
}
_LISTS = {ListPage: "Page", Paginated: "Page", Data: "List", Feed: "Feed"}
_classes: dict[str, object] = {}  # name -> the class described by it


def name_of(cls: Any) -> str:
    """`PayoutDocument` is a Payout, and one page of them a PayoutPage."""
    if cls in _CHOICES:
        return _CHOICES[cls]
    name = str(getattr(cls, "__name__", "")).removesuffix("Document")
    return name_of(get_args(cls)[0]) + _LISTS[get_origin(cls)] if get_args(cls) else name


def reference(cls: Any) -> Schema:
    name = name_of(cls)
    if _classes.setdefault(name, cls) != cls:
        raise TypeError(f"{cls} and {_classes[name]} would both be described as {name}")
    return {"$ref": f"#/components/schemas/{name}"}


def schema_named(cls: Any) -> Schema:
    """The schema of a document, or of a list or choice of documents, by the documents' names."""
    return reference(cls) if cls in _CHOICES or is_document(cls) else schema_by(cls, reference)


def components() -> dict[str, Schema]:
    """The schemas of all classes described by name, and of those they refer to."""
    schemas: dict[str, Schema] = {}
    while missing := _classes.keys() - schemas.keys():
        for name in missing:
            cls = _classes[name]
            schemas[name] = (
                schema_by(cls, reference) if cls in _CHOICES else fields_of(cls, reference)
            )
    return dict(sorted(schemas.items()))
