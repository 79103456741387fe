"""The addresses of the Model Context Protocol, all at the API's host."""

from django.urls import path

from apps.mcp import views

urlpatterns = [
    path("mcp", views.serve, name="mcp"),
    path(".well-known/oauth-protected-resource/mcp", views.metadata, name="mcp_metadata"),
    path(".well-known/oauth-protected-resource", views.metadata, name="mcp_metadata_short"),
]
