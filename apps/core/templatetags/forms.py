"""Markup of an invalid input: for the eye, for a screen reader, and for the focus."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.core.typed_amounts import LENGTH_MAX
from apps.core.web.forms import Form

register = template.Library()


@register.simple_tag
def input_state(form: Form, name: str, hint: str = "") -> SafeString:
    """The attributes of an input: which sentences are about it (`hint` is the id of one that always
    is), and the focus, for the first that is wrong."""
    if name not in form.errors:
        return format_html('aria-describedby="{}"', hint) if hint else SafeString("")
    hints = f"{hint} {name}-error" if hint else f"{name}-error"
    focus = SafeString(" autofocus") if form.first_wrong == name else ""
    return format_html('aria-invalid="true" aria-describedby="{}"{}', hints, focus)


@register.simple_tag
def amount_input(
    form: Form | None,
    name: str,
    hint: str = "",
    *,
    value: str | None = None,
    id: str = "",
    label: str = "",
    placeholder: str = "",
    required: bool = False,
    focus: bool = False,
) -> SafeString:
    """The input of every amount and percentage that people type: whatever keypad they have, and
    read by apps.core.typed_amounts. Its errors are those of `id`, where that isn't its name; with
    `label` it needs no label element. `focus` holds until a form was refused."""
    own = id or name
    text = form.values.get(name, "") if value is None and form is not None else value or ""
    parts = [
        format_html('<input id="{}" name="{}" inputmode="decimal" autocomplete="off"', own, name),
        format_html(' maxlength="{}" value="{}"', LENGTH_MAX, text),
        format_html(' aria-label="{}"', label) if label else "",
        format_html(' placeholder="{}"', placeholder) if placeholder else "",
        SafeString(" required") if required else "",
        SafeString(" autofocus") if focus and form is not None and not form.errors else "",
        format_html(" {}", input_state(form, own, hint)) if form is not None else "",
        SafeString(">"),
    ]
    return SafeString("".join(parts))


@register.simple_tag
def group_state(form: Form, name: str) -> SafeString:
    """State of a fieldset of choices, which takes the focus itself: none of them is wrong alone."""
    if name not in form.errors:
        return SafeString("")
    focus = SafeString(" autofocus") if form.first_wrong == name else ""
    return format_html('tabindex="-1" aria-describedby="{}-error"{}', name, focus)


@register.simple_tag
def input_errors(form: Form, name: str) -> SafeString:
    """The sentences below a wrong input."""
    if name not in form.errors:
        return SafeString("")
    text = format_html_join(" ", "{}", ((sentence,) for sentence in form.errors[name]))
    return format_html('<span class="error" id="{}-error" role="alert">{}</span>', name, text)
