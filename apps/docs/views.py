"""The documentation: pages for people, their Markdown for models, the search, and the API
explorer."""

from collections.abc import Mapping

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_safe

from apps.docs.search import search
from apps.docs.site import DocsPage, index_file, page, site
from apps.docs.tree import HOME

QUERY_MAX = 100
KEPT = {"Cache-Control": "public, max-age=300"}


@require_safe
def show(request: HttpRequest, slug: str = HOME.slug) -> HttpResponse:
    document = _page(slug)
    order = [link for menu in site().menu for link in menu.links]
    place = next(place for place, link in enumerate(order) if link.slug == slug)
    parts = {
        "page": document,
        "before": order[place - 1] if place else None,
        "after": order[place + 1] if place + 1 < len(order) else None,
    }
    return _show(request, "docs/page.html", parts)


@require_safe
def find(request: HttpRequest) -> HttpResponse:
    """For who has no JavaScript, and for links to a search."""
    query = request.GET.get("q", "")[:QUERY_MAX].strip()
    results = search(query) if query else None
    return _show(request, "docs/search.html", {"query": query, "results": results})


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return HttpResponse(index_file(), content_type="application/json", headers=KEPT)


@require_safe
def source(request: HttpRequest, slug: str = HOME.slug) -> HttpResponse:
    """A page's source as Markdown, for models and for people who copy it."""
    return HttpResponse(
        _page(slug).markdown, content_type="text/markdown; charset=utf-8", headers=KEPT
    )


@require_safe
def picture(request: HttpRequest, name: str) -> FileResponse:
    """A picture of the guide."""
    path = settings.BASE_DIR / "docs" / "guide" / "pictures" / f"{name}.png"
    if not path.is_file():
        raise Http404
    return FileResponse(path.open("rb"), content_type="image/png", headers=KEPT)


@require_safe
def models(request: HttpRequest) -> HttpResponse:
    """llms.txt: what there is to read, for language models (llmstxt.org)."""
    lines = [
        "# Tillgate",
        "",
        (
            "> Take crypto payments priced in fiat: REST API, hosted checkout, signed webhooks,"
            " payouts."
        ),
        "",
    ]
    for menu in site().menu:
        lines += [f"## {menu.title}", ""]
        lines += [
            f"- [{link.title}]({settings.API_URL}{_source_address(link.slug)})"
            for link in menu.links
        ]
        lines.append("")
    lines += ["## Description", "", f"- [OpenAPI 3.1]({settings.API_URL}{reverse('openapi')})", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8", headers=KEPT)


@require_safe
def explorer(request: HttpRequest) -> HttpResponse:
    return render(request, "docs/try.html")


def _show(request: HttpRequest, template: str, parts: Mapping[str, object]) -> HttpResponse:
    host = settings.DASHBOARD_URL if settings.DASHBOARD_HOST else ""
    home, keys = (host + reverse(f"dashboard:{name}") for name in ("home", "keys"))
    with translation.override(
        "en"
    ):  # it is written in English alone, whatever language the browser asks for
        return render(
            request, template, {"menu": site().menu, "dashboard": home, "keys": keys, **parts}
        )


def _source_address(slug: str) -> str:
    return reverse("docs_home_source") if slug == HOME.slug else reverse("docs_source", args=[slug])


def _page(slug: str) -> DocsPage:
    document = page(slug)
    if document is None:
        raise Http404
    return document
