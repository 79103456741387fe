"""Webhook endpoints for staff: never a secret."""

from typing import ClassVar

from apps.staff import lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing.codes import code
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.structures import side_by_side
from apps.webhooks.catalogue import event_title
from apps.webhooks.models import Endpoint


class EndpointAdmin(ReadOnly):
    model = Endpoint
    noun = "endpoint"
    labels: ClassVar = {
        "is_notice_due": "Owner will be notified",
        "is_secret_of_platform": "Secret made by a platform",
        "platform_store_url": "Shop URL",
    }
    is_named = True
    list_display = ["shop", "address", "platform", "created", "changed", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Endpoint ID, or the beginning of a store’s name"
    ordering = [BY_KEY]
    exclude = ["sealed_secret"]
    address = lists.url("url", "URL")
    changed = lists.when("updated_at", "Updated")
    value_texts: ClassVar = {
        "secret_preview": lambda row: code(row.secret_preview.replace("...", "…")),
        "subscribed_events": lambda row: side_by_side(map(event_title, row.subscribed_events)),
    }
