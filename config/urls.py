"""The mounts: each door has its own table of routes."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("api/v2/", include("apps.api.urls")),
    path("dashboard/", include("apps.dashboard.urls")),
    path("admin/", admin.site.urls),
    path("", include("apps.console.urls")),
    path("", include("apps.hosted.urls")),
]
handler404 = "apps.api.plumbing.errors.not_found"
handler500 = "apps.api.plumbing.errors.server_error"
handler400 = "apps.api.plumbing.errors.bad_request"
