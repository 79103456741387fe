"""Networks and coins that two members of staff add on the staff site.

The web may write neither: once both have decided, a worker asks the network's node, waits in live
mode for anyone who stops it, and adds what the request says.
"""

from dataclasses import fields, replace
from datetime import datetime

import msgspec
from django.db.models import TextChoices

from apps.assets.models import Chain, FeeModel
from apps.chain import additions
from apps.chain.additions import AssetFacts, NetworkFacts, NotAdded
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid
from apps.core.models import Mode
from apps.core.rows import Job
from apps.stores import staff_roles
from apps.stores.models import StaffRequest, User, WorkerOrder
from apps.stores.staff import four_eyes, worker_orders
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind
from apps.stores.staff.worker_orders import OrderKind

_CHOICES: dict[str, type[TextChoices]] = {"mode": Mode, "fee_model": FeeModel}
_LABELS = {
    "id": "ID",
    "number": "Chain ID",
    "confirmations_floor": "Fewest confirmations",
    "block_seconds": "Seconds between blocks",
    "fee_symbol": "Coin of the fees",
    "fee_model": "Fees",
    "explorer_url": "Block explorer",
    "wallet_url": "Node for wallets",
    "symbol": "Short name",
    "minimum": "Smallest payout",
    "eip712_name": "EIP-712 name",
    "eip712_version": "EIP-712 version",
    "pays_fees": "Network takes its fees in it",
    "sweep_minimum": "Minimum sweep",
    "sweep_cost": "Maximum cost of a sweep (%)",
    "sweep_after_days": "Sweep smaller deposits after days",
}


def request_network(facts: NetworkFacts, reason: str, staff: User, at: datetime) -> StaffRequest:
    """Nothing is added yet. Raises NotAdded, or what four_eyes.ask raises."""
    check(facts)
    name = f"New network {facts.name} ({facts.id})"
    wish = Proposal(facts.id, name, msgspec.to_builtins(facts), lines_of(facts), reason)
    return four_eyes.ask(NETWORK, wish, staff, at)


def request_asset(facts: AssetFacts, reason: str, staff: User, at: datetime) -> StaffRequest:
    """Nothing is added yet. Raises NotFound, NotAdded, NotSweptSo, or what four_eyes.ask raises."""
    check(facts)
    name = f"New asset {facts.symbol} ({facts.id})"
    wish = Proposal(facts.id, name, msgspec.to_builtins(facts), lines_of(facts), reason)
    return four_eyes.ask(ASSET, wish, staff, at)


def check(facts: NetworkFacts | AssetFacts) -> None:
    """Refuse what can't be added, as far as the database tells. Raises NotFound, NotAdded and
    NotSweptSo."""
    if isinstance(facts, NetworkFacts):
        additions.check_network(facts)
    else:
        additions.check_asset(facts)


def lines_of(facts: NetworkFacts | AssetFacts) -> list[tuple[str, str, str]]:
    """Each fact that was typed; nothing was there before."""
    found = []
    for each in fields(facts):
        value = getattr(facts, each.name)
        label = _LABELS.get(each.name, each.name.capitalize())
        text = ("Yes" if value else "") if isinstance(value, bool) else str(value)
        if each.name in _CHOICES:
            text = str(_CHOICES[each.name](value).label)
        if text:
            found.append((label, "", text))
    return found


def _network(facts: Facts) -> NetworkFacts:
    return msgspec.convert(facts, NetworkFacts)


def _asset(facts: Facts) -> AssetFacts:
    """Bank payouts of it are an operator's to allow: coins that are worth nothing never become
    money."""
    return replace(msgspec.convert(facts, AssetFacts), pays_banks=False)


def _before_network(facts: Facts) -> Facts:
    additions.check_network(_network(facts))
    return {}


def _before_asset(facts: Facts) -> Facts:
    additions.check_asset(_asset(facts))
    return {}


def _mode_of(kind: str, facts: Facts) -> str:
    """Raises NotAdded."""
    if kind == NETWORK.name:
        return _network(facts).mode
    chain = Chain.objects.filter(pk=facts["network"]).first()
    if chain is None:
        raise NotAdded("Network not found")
    return chain.mode


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> None:
    worker_orders.place(
        ORDER,
        target_id=str(request.pk),
        store=None,
        mode=_mode_of(request.kind, facts),
        name=request.name,
        reason=request.reason,
        staff=request.asked_by,
    )


NETWORK = RequestKind("network", "A new network", staff_roles.ADDITION, _before_network, _carry_out)
ASSET = RequestKind("asset", "A new asset", staff_roles.ADDITION, _before_asset, _carry_out)


# --- by a worker ----------------------------------------------------------------------------------


class _NotDecided(Failure):
    message = "It takes two members of staff who may add it, and still are"


def _decided(order: WorkerOrder) -> tuple[str, Facts]:
    """The kind of the request behind an order and what it says, as two who still may have decided
    it. Raises a Failure."""
    rows = StaffRequest.objects.filter(
        kind__in=(NETWORK.name, ASSET.name), state=StaffRequest.State.APPROVED
    )
    ids = [order.target_id] if is_uuid(order.target_id) else []
    request = rows.select_related("asked_by", "decided_by").filter(pk__in=ids).first()
    if request is None or request.decided_by is None:
        raise NotAdded("Nobody has approved it")
    facts = four_eyes.content_of(request).facts
    if order.mode != _mode_of(request.kind, facts) or order.store_id is not None:
        raise NotAdded("The order is of another mode than the request")
    people = {request.asked_by_id: request.asked_by, request.decided_by.pk: request.decided_by}
    if len(people) < 2 or not all(
        person.is_active and staff_roles.may(person, staff_roles.ADDITION)
        for person in people.values()
    ):
        raise _NotDecided
    return request.kind, facts


def _describe(order: WorkerOrder) -> str:
    kind, facts = _decided(order)
    request = StaffRequest.objects.select_related("asked_by", "decided_by").get(pk=order.target_id)
    people = f"requested by {request.asked_by}, approved by {request.decided_by}"
    if kind == NETWORK.name:
        network = _network(facts)
        return f"Network {network.name}, chain ID {network.number}, {people}"
    asset = _asset(facts)
    contract = f", contract {asset.contract}" if asset.contract else ""
    return f"{asset.symbol} ({asset.id}) on {asset.network}{contract}, {people}"


def _check(order: WorkerOrder) -> None:
    """The network's node has to say the same of a contract."""
    kind, facts = _decided(order)
    if kind == ASSET.name:
        additions.compare_asset(_asset(facts))


def _work(order: WorkerOrder, at: datetime) -> str:
    kind, facts = _decided(order)
    if kind == NETWORK.name:
        additions.add_network(_network(facts))
    else:
        additions.create_asset(_asset(facts))
    return "Added"


ORDER = OrderKind(
    "addition",
    "A new network or asset",
    "chain.add_requested",
    Job("chain.add_requested", in_transaction=False),
    staff_roles.ORDER_STOP,
    _describe,
    _work,
    _check,
    happens="added",
)


def add_requested() -> int:
    """Adds what two members of staff have decided in the web; how many orders were looked at."""
    return worker_orders.work(ORDER)
