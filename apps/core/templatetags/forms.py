"""What a form says at an input that is wrong: for the eye, for a screen reader, and where the focus
goes."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

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
def group_state(form: Form, name: str) -> SafeString:
    """The same for a fieldset of choices, which takes the focus itself: none of them is wrong
    alone."""
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
