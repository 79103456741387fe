"""What a form says at an input that is wrong: for the eye, for a screen reader, and where the focus goes."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.dashboard.forms import Form

register = template.Library()


@register.simple_tag
def input_state(form: Form, name: str) -> SafeString:
    """The attributes of a wrong input; the first of them has the focus."""
    if name not in form.errors:
        return SafeString("")
    focus = SafeString(" autofocus") if form.first_wrong == name else ""
    return format_html('aria-invalid="true" aria-describedby="{}-error"{}', name, focus)


@register.simple_tag
def input_errors(form: Form, name: str) -> SafeString:
    """The sentences below a wrong input."""
    if name not in form.errors:
        return SafeString("")
    told = format_html_join(" ", "{}", ((one,) for one in form.errors[name]))
    return format_html('<span class="error" id="{}-error" role="alert">{}</span>', name, told)
