"""Apps that merchants authorize, for staff."""

from typing import ClassVar

from apps.access.models import (
    Application,
)
from apps.staff import lists
from apps.staff.pages import ReadOnly


class ApplicationAdmin(ReadOnly):
    model = Application
    names = ("app", "apps")
    labels: ClassVar = {
        "cimd_expires_at": "Client metadata expires",
        "hash_client_secret": "Client secret stored as a hash",
        "post_logout_redirect_uris": "Redirect URIs after sign-out",
        "skip_authorization": "Authorized without asking",
        "website_url": "Website",
    }
    is_named = True
    list_display = ["name", "shop", "client", "client_type", "enabled", "created_on"]
    client = lists.clipped("client_id", "Client ID")
    enabled = lists.flag("is_active", "Active")
    list_filter = ["is_active", "client_type"]
    list_select_related = ["store"]
    search_fields = ["client_id", "store"]
    search_help_text = "Client ID, or the beginning of a store’s name"
    created_on = lists.when("created", "Created")
    exclude = ["client_secret"]
