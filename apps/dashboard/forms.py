"""One class per form: what was typed, the request that it makes, and what is wrong about it, by input."""

from collections.abc import Mapping
from typing import ClassVar, Self

from apps.core.errors import Failure
from apps.core.literal import Invalid
from apps.dashboard.plumbing import sentences, status_of


class Form:
    """`names` are the inputs in their order. `inputs` says where an error is shown whose field has another name here."""

    names: ClassVar[tuple[str, ...]] = ()
    hidden: ClassVar[tuple[str, ...]] = ()
    inputs: ClassVar[Mapping[str, str]] = {}

    def __init__(self, typed: Mapping[str, str]) -> None:
        self.values = {name: str(typed.get(name, "")).replace("\x00", "").strip() for name in (*self.names, *self.hidden)}
        self.errors: dict[str, list[str]] = {}
        self.status = 200

    def refuse(self, refusal: Exception) -> Self:
        """The same form, with what was refused at its input, or above them all."""
        field = refusal.field if isinstance(refusal, (Failure, Invalid)) else ""
        name = self.input_of(field)
        self.errors.setdefault(name if name in self.names else "", []).extend(sentences(refusal))
        self.status = status_of(refusal)
        return self

    def input_of(self, field: str) -> str:
        return self.inputs.get(field, field)

    @property
    def first_wrong(self) -> str:
        """The input that the reader is led to."""
        return next((name for name in self.names if name in self.errors), "")

    @property
    def common_errors(self) -> list[str]:
        return self.errors.get("", [])
