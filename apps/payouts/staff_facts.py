"""What staff see beside a payout in review: the store's payouts, where this one goes, and who asked
for it. A bounded look at each."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from apps.core import money
from apps.core.staff.pages import Section
from apps.core.templatetags.tillgate import day, fiat, moment
from apps.payouts.models import Payout
from apps.payouts.services.review import worth_now
from apps.stores.models import Member
from apps.stores.staff_facts import decisions, store_section

PAYOUTS_MAX = 200
STORES_MAX = 10


def payout_sections(payout: Payout) -> list[Section]:
    """As many statements for one payout as for a thousand."""
    sections = [store_section(payout.store), _earlier(payout), _destination(payout)]
    if payout.maker is not None:
        sections.append(_person(payout))
    decided = decisions(payout.store, "payout.approved", "payout.rejected")
    sections.append(
        Section(
            "Latest decisions",
            decided,
            without="No payout of this store has been reviewed yet.",
        )
    )
    return sections


def _earlier(payout: Payout) -> Section:
    rows = (
        Payout.objects.filter(store=payout.store_id, mode=payout.mode)
        .exclude(pk=payout.pk)
        .select_related("asset")
    )
    newest = list(rows.order_by("-created_at")[:PAYOUTS_MAX])
    counts = Counter(Payout.Status(payout.status).label for payout in newest)
    facts: list[tuple[str, Any]] = [("Payouts", _up_to(len(newest)))]
    facts += [(status, number) for status, number in counts.most_common()]
    paid = [payout for payout in newest if payout.status == Payout.Status.CONFIRMED]
    facts += [("Total paid out", text) for text in _sums(paid)]
    if newest:
        facts.append(("Latest", moment(newest[0].created_at)))
    page = reverse("admin:payouts_payout_changelist") + f"?q={payout.store_id}"
    return Section("Payouts of the store", facts, page, "All payouts")


def _destination(payout: Payout) -> Section:
    rows = Payout.objects.filter(store=payout.store_id, mode=payout.mode).exclude(pk=payout.pk)
    saved = payout.destination
    address = payout.destination_address
    facts: list[tuple[str, Any]] = []
    if saved is not None:
        facts.append(("Saved as", saved.label or saved.holder or "No label"))
        facts.append(("Added", day(saved.created_at)))
        facts.append(("Verified", day(saved.verified_at) if saved.verified_at else "No"))
    payouts = (
        rows.filter(destination_address=address) if address else rows.filter(destination=saved)
    )
    used = list(payouts.order_by("created_at").select_related("asset")[:PAYOUTS_MAX])
    facts.append(
        ("Payouts to this destination", _up_to(len(used)) if used else "None, this is the first")
    )
    if used:
        facts.append(("First used", day(used[0].created_at)))
        facts += [
            ("Total paid to this destination", text)
            for text in _sums(payout for payout in used if payout.status == Payout.Status.CONFIRMED)
        ]
    if address:
        elsewhere = Payout.objects.filter(destination_address=address).exclude(
            store=payout.store_id
        )
        facts.append(
            (
                "Other stores using it",
                len(set(elsewhere.values_list("store", flat=True)[:STORES_MAX])) or "None",
            )
        )
    page = reverse("admin:payouts_destination_change", args=[saved.pk]) if saved is not None else ""
    return Section("Destination", facts, page, "Open destination")


def worth_text(payout: Payout) -> str:
    worth = worth_now(payout)
    return "No current rate" if worth is None else fiat(worth.cents, worth.currency)


def _person(payout: Payout) -> Section:
    maker: Any = payout.maker
    member = Member.objects.filter(store=payout.store_id, user=maker).first()
    facts: list[tuple[str, Any]] = [
        ("Email", maker.email),
        ("Role", member.get_role_display() if member is not None else "No longer a member"),
        ("Member since", day(member.created_at) if member is not None else ""),
        ("Last sign-in", moment(maker.last_login) if maker.last_login else "Never"),
    ]
    return Section(
        "Requested by", facts, reverse("admin:stores_user_change", args=[maker.pk]), "Open account"
    )


def _sums(payouts: Iterable[Payout]) -> list[str]:
    """By coin."""
    sums: dict[tuple[str, int], int] = {}
    for payout in payouts:
        key = (payout.asset.coin_symbol, payout.asset.atomic_decimals)
        sums[key] = sums.get(key, 0) + payout.amount_atomic
    return [
        f"{money.amount_text(amount, decimals)} {symbol}"
        for (symbol, decimals), amount in sorted(sums.items())
    ]


def _up_to(count: int) -> str:
    return str(count) if count < PAYOUTS_MAX else f"{PAYOUTS_MAX} or more"
