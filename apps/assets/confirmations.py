"""Required confirmations of a network's deposits: two members of staff change them, never below the
network's floor, which nothing lowers (decision 616)."""

from datetime import datetime

from apps.assets.models import Chain
from apps.assets.services import CONFIRMATIONS_MAX
from apps.core.errors import Failure
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import StaffRequest, User
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind


class ConfirmationsRefused(Failure):
    """The text says why."""


def request_confirmations(
    chain: Chain, confirmations: int, reason: str, staff: User, at: datetime
) -> StaffRequest:
    """Nothing is changed yet. Raises ConfirmationsRefused, or what four_eyes.ask raises."""
    return four_eyes.ask(CONFIRMATIONS, wish_of(chain, confirmations, reason), staff, at)


def wish_of(chain: Chain, confirmations: int, reason: str) -> Proposal:
    """Raises ConfirmationsRefused."""
    lowest = chain.confirmations_floor
    if not lowest <= confirmations <= CONFIRMATIONS_MAX:
        raise ConfirmationsRefused(
            f"Choose from {lowest} to {CONFIRMATIONS_MAX} confirmations on {chain.name}"
        )
    if confirmations == chain.required_confirmations:
        raise ConfirmationsRefused("Nothing of it would change")
    return Proposal(
        chain.pk,
        f"Confirmations on {chain.name}",
        {"chain": chain.pk, "confirmations": confirmations},
        [("Confirmations", str(chain.required_confirmations), str(confirmations))],
        reason,
    )


def _before(facts: Facts) -> Facts:
    chain = Chain.objects.select_for_update().get(pk=facts["chain"])
    return {"confirmations": chain.required_confirmations, "lowest": chain.confirmations_floor}


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> None:
    chain = Chain.objects.get(pk=facts["chain"])
    before, after = chain.required_confirmations, facts["confirmations"]
    chain.required_confirmations = after
    chain.save(update_fields=["required_confirmations"])
    audit.record(
        "chain.changed",
        target=chain,
        name=chain.name,
        reason=request.reason,
        details={"required_confirmations": [before, after]},
    )


CONFIRMATIONS = RequestKind(
    "confirmations",
    "A change to a network’s confirmations",
    staff_roles.CONFIRMATIONS,
    _before,
    _carry_out,
)
