"""The mounts: each interface has its own table of routes."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from config.hosts import front

urlpatterns = [
    path("api/v2/", include("apps.api.urls")),
    path("", include("apps.api.compat.urls")),
    path("", include("apps.docs.urls")),
    path("", include("apps.mcp.urls")),
    path("dashboard", RedirectView.as_view(pattern_name="dashboard:home", query_string=True)),
    path("dashboard/", include("apps.dashboard.urls")),
    path("admin", RedirectView.as_view(pattern_name="admin:index", query_string=True)),
    path("admin/", admin.site.urls),
    path("", front, name="front"),
    path("", include("config.oauth_urls")),
    path("", include("apps.console.urls")),
    path("", include("apps.hosted.urls")),
]
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
handler400 = "config.errors.bad_request"
