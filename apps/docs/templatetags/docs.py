"""Tags and filters of the documentation's templates: addresses of pages, and their bodies, which
this repository wrote."""

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from apps.docs.site import DocsPage
from apps.docs.tree import HOME

register = template.Library()


@register.filter
def address(slug: str) -> str:
    return reverse("docs") if slug == HOME.slug else reverse("docs_page", args=[slug])


@register.filter
def markdown_address(slug: str) -> str:
    return reverse("docs_home_source") if slug == HOME.slug else reverse("docs_source", args=[slug])


@register.filter
def body(page: DocsPage) -> SafeString:
    """Drawn from files of this repository alone: nothing of it comes from outside, and raw HTML in
    them is escaped."""
    return mark_safe(page.html)  # noqa: S308
