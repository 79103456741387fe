"""The documentation's addresses, all of them at the API's host."""

from django.urls import path, re_path
from django.views.generic import RedirectView

from apps.docs import views

SLUG = r"(?P<slug>[a-z0-9][a-z0-9/_-]{0,80})"

urlpatterns = [
    path("docs", views.show, name="docs"),
    path("docs/", RedirectView.as_view(pattern_name="docs")),
    path("docs/try", views.explorer, name="docs_try"),
    path("docs/search", views.find, name="docs_search"),
    path("docs/search.json", views.index, name="docs_index"),
    path("llms.txt", views.models, name="docs_models"),
    path("docs.md", views.source, name="docs_home_source"),
    re_path(r"^docs/pictures/(?P<name>[a-z0-9-]{1,80})\.png$", views.picture, name="docs_picture"),
    re_path(rf"^docs/{SLUG}\.md$", views.source, name="docs_source"),
    re_path(rf"^docs/{SLUG}$", views.show, name="docs_page"),
]
