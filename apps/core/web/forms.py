"""Forms of pages, a class each: the typed values, the request that they make, and the errors by
input."""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from django.http import QueryDict
from django.utils.translation import gettext

from apps.core.errors import DatedFailure, Failure
from apps.core.messages.invalid import SENTENCES, Invalid, InvalidFields
from apps.core.money import Fiat
from apps.core.templatetags.tillgate import fiat, grouped
from apps.core.text.moments import plain_in_zone
from apps.core.text.wording import translated
from apps.core.web.refusals import status_of

_BOUNDS = ("minimum", "maximum", "step")
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)|(?<=s)'(?= )")


class Form:
    """`names` are the inputs in their order; `hidden` comes along and is never wrong by itself.

    NUL, which can't be stored, is left out; where `is_literal` it stays for the service to refuse.
    Of an input of `lists` several values can be chosen; one of `secrets` is taken exactly as it was
    typed, and no page shows it again. `inputs` says at which input an error is shown whose field
    has another name here, `labels` what people call a field in a sentence.
    """

    names: tuple[str, ...] = ()
    hidden: ClassVar[tuple[str, ...]] = ()
    lists: ClassVar[tuple[str, ...]] = ()
    secrets: ClassVar[tuple[str, ...]] = ()
    is_literal: ClassVar[bool] = False
    inputs: ClassVar[Mapping[str, str]] = {}
    labels: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self, typed: Mapping[str, str], chosen: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        apart = (*self.lists, *self.secrets)
        field_names = [name for name in (*self.names, *self.hidden) if name not in apart]
        self.values = {name: _clean(typed.get(name, ""), self.is_literal) for name in field_names}
        self.secret_values = {name: typed.get(name, "") for name in self.secrets}
        self.chosen = {
            name: [_clean(text, self.is_literal) for text in (chosen or {}).get(name, ())]
            for name in self.lists
        }
        self.errors: dict[str, list[str]] = {}
        self.status = 200

    @classmethod
    def from_post(cls, post: QueryDict) -> Self:
        """The form as a browser has sent it."""
        return cls(post.dict(), {name: post.getlist(name) for name in cls.lists})  # type: ignore[arg-type]  # a QueryDict's values are texts

    @property
    def sent(self) -> dict[str, str | None]:
        """Typed values for a request: an empty input is missing."""
        return {name: text or None for name, text in self.values.items()}

    def refuse(self, refusal: Exception) -> Self:
        """The form with a refusal at its input, or above them all."""
        if isinstance(refusal, InvalidFields):
            for part in refusal.broken:
                self.refuse(part)
            return self
        field = refusal.field if isinstance(refusal, (Failure, Invalid)) else ""
        name = self.input_of(field)
        texts = sentences(refusal, self.labels.get(field.partition("[")[0], ""))
        self.errors.setdefault(name if name in self.names else "", []).extend(texts)
        self.status = status_of(refusal)
        if isinstance(refusal, Failure) and refusal.holds_secret and name in self.values:
            self.values[name] = ""
        return self

    def input_of(self, field: str) -> str:
        """The input of a field; that of a list's entry (`scopes[2]`) is the list's."""
        name, _, _ = field.partition("[")
        return self.inputs.get(name, name)

    @property
    def first_wrong(self) -> str:
        """The input that the reader is led to."""
        return next((name for name in self.names if name in self.errors), "")

    @property
    def common_errors(self) -> list[str]:
        return self.errors.get("", [])


def _clean(text: object, is_literal: bool) -> str:
    content = str(text) if is_literal else str(text).replace("\x00", "")
    return content.replace("\r\n", "\n").strip()


def sentences(refusal: Exception, label: str = "") -> list[str]:
    """Sentences of a refusal, with the field's name as `label`: a capital first, a full stop last.

    Customers and merchants read it in their language: every sentence of a failure or a rule is
    collected (dev/messages.py), those with figures are `Worded`.
    """
    if isinstance(refusal, Invalid):
        return [_sentence(_of_rule(refusal, label))]
    if isinstance(refusal, DatedFailure):
        until = plain_in_zone(refusal.until, "d MMM y, HH:mm")
        return [_sentence(gettext(refusal.pattern).format(until=until))]
    return [
        _sentence(translated(refusal.wording if isinstance(refusal, Failure) else str(refusal)))
    ]


def _of_rule(refusal: Invalid, label: str) -> str:
    text = refusal.text_of(label) if label else refusal.text
    words = SENTENCES[refusal.rule]
    if words.format(field=label or refusal.field, **refusal.params) != text:
        return text  # a kind of its own, with words of its own
    figures = figures_of(refusal)
    return gettext(words).format(field=gettext(label) if label else refusal.field, **figures)


def figures_of(refusal: Invalid) -> dict[str, object]:
    """Figures in the rule's sentence; bounds as pages write amounts, with the reader's
    separators."""
    return {name: _figure(name, value) for name, value in refusal.params.items()}


def _figure(name: str, value: object) -> object:
    if isinstance(value, Fiat):
        return fiat(value.cents, value.currency)
    number, space, unit = str(value).partition(" ")
    is_plain = name in _BOUNDS and _PLAIN_NUMBER.fullmatch(number)
    return f"{grouped(number)}{space}{unit}" if is_plain else value


def typographic(text: str) -> str:
    """A sentence as pages are typeset: those of the API have straight apostrophes, pages curly
    ones."""
    return _APOSTROPHE.sub("\N{RIGHT SINGLE QUOTATION MARK}", text)


def _sentence(text: str) -> str:
    text = typographic(text[:1].upper() + text[1:])
    return text if text.endswith((".", "!", "?", "。", "؟")) else f"{text}."
