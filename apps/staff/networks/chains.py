"""Chains for staff."""

from typing import Any, ClassVar, cast

from django.contrib import messages
from django.http import HttpRequest

from apps.assets.confirmations import request_confirmations
from apps.assets.models import Chain
from apps.core import clock
from apps.core.errors import Failure
from apps.core.web.forms import typographic
from apps.staff import lists
from apps.staff.pages import Switches, typed_reason
from apps.stores import staff_roles
from apps.stores.models import User


class ChainAdmin(Switches):
    model = Chain
    labels: ClassVar = {"symbol": "Short name"}
    help_texts: ClassVar = {
        "required_confirmations": (
            "Blocks until a deposit counts as confirmed. A change needs a second approval."
        ),
    }
    is_named = True
    operation = staff_roles.ASSETS
    list_display = ["name", "code", "number", "mode", "required_confirmations"]
    list_filter = ["mode"]
    code = lists.clipped("id", "ID")
    number = lists.text("chain_id", "Chain ID")
    switches = ("required_confirmations", "explorer_url")

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        """Confirmations take two members of staff, and are requested."""
        name = "required_confirmations"
        is_requested = name in form.changed_data
        confirmations = obj.required_confirmations
        form.changed_data = [column for column in form.changed_data if column != name]
        obj.refresh_from_db(fields=[name])
        super().save_model(request, obj, form, change)
        if is_requested:
            self._request(request, obj, confirmations)

    def _request(self, request: HttpRequest, chain: Chain, confirmations: int) -> None:
        staff = cast(User, request.user)
        try:
            row = request_confirmations(
                chain, confirmations, typed_reason(request), staff, clock.real_now()
            )
        except Failure as refusal:
            messages.error(request, typographic(refusal.text))
        else:
            messages.warning(request, f"{row}: sent for a second approval")
