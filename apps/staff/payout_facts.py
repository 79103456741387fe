"""What staff see beside a payout in review, a bank account or a stopped asset: the store's payouts
and balances, where a payout goes, and who asked for it. A bounded look at each."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.assets.models import AcceptedAsset, Asset
from apps.assets.selectors import price_of, with_chains
from apps.chain.models import Deposit
from apps.core import clock, money
from apps.core.money import Amount
from apps.core.templatetags.tillgate import moment, status_words
from apps.ledger.selectors import balances
from apps.payments.models import PaymentAddress
from apps.payouts.models import Destination, Payout
from apps.payouts.services.review import worth_now
from apps.staff.lists import about
from apps.staff.pages import Section
from apps.staff.plumbing.times import made_text
from apps.staff.store_facts import decisions, store_section
from apps.stores.models import Member, Store

PAYOUTS_MAX = 200
STORES_MAX = 10
LOST_MAX = 20


def payout_sections(payout: Payout) -> list[Section]:
    """As many statements for one payout as for a thousand."""
    sections = [store_section(payout.store), _earlier(payout), _destination(payout)]
    if payout.maker is not None:
        sections.append(_person(payout))
    decided = decisions(payout.store, "payout.approved", "payout.rejected")
    sections.append(
        Section(
            "Earlier decisions",
            decided,
            without="No payout of this store has been reviewed yet.",
        )
    )
    return sections


def bank_sections(bank: Destination) -> list[Section]:
    """Of a bank account to be verified: whose it is to be, and what they have paid out."""
    decided = decisions(bank.store, "payout_destination.verified", "payout_destination.rejected")
    return [
        store_section(bank.store),
        _payouts_of(bank.store, bank.mode),
        _balances(bank.store, bank.mode),
        Section("Earlier decisions", decided, without="No bank account has been reviewed yet."),
    ]


def stopped_asset_sections(accepted: AcceptedAsset) -> list[Section]:
    """Of an asset that was stopped for review: what went missing, and what the store has of it."""
    decided = decisions(accepted.store, "asset.review_ended", "asset.kept_stopped")
    return [
        _lost(accepted),
        store_section(accepted.store),
        _balances(accepted.store, accepted.mode),
        _payouts_of(accepted.store, accepted.mode),
        Section("Earlier decisions", decided, without="No asset has been reviewed yet."),
    ]


def _lost(accepted: AcceptedAsset) -> Section:
    """Deposits that the store was credited with and that left the chain. They are few."""
    addresses = PaymentAddress.objects.filter(
        payment__store=accepted.store_id, payment__mode=accepted.mode
    )
    rows = Deposit.objects.filter(
        is_lost=True, asset=accepted.asset_id, address__in=addresses.values("address")
    )
    lost = list(rows.order_by("-detected_at")[:LOST_MAX])
    worth = _worth(accepted.store, accepted.asset, sum(row.amount_atomic for row in lost))
    facts: list[tuple[str, Any]] = [
        (moment(row.detected_at), _coins(row.amount_atomic, accepted.asset)) for row in lost
    ]
    if lost:
        facts.append(("Worth now", worth))
    page = reverse("admin:chain_deposit_changelist") + "?days=all&is_lost__exact=1"
    return Section("Lost deposits", facts, page, "All lost deposits", without="No lost deposits.")


def _balances(store: Store, mode: str) -> Section:
    """What the store has, in coins and money."""
    held = [balance for balance in balances(store.pk, mode).values() if balance.total_atomic]
    assets = with_chains({balance.asset_id for balance in held})
    facts = [
        (
            assets[balance.asset_id].full_name,
            _valued(store, assets[balance.asset_id], balance.total_atomic),
        )
        for balance in held
    ]
    return Section("Balances of the store", facts, without="No balance.")


def _worth(store: Store, asset: Asset, amount_atomic: int) -> str:
    price = price_of(asset, store.settlement_currency, clock.real_now())
    if price is None:
        return "no current rate"
    worth = price.worth(Amount(asset, amount_atomic))
    return about(worth.cents, worth.currency)


def _valued(store: Store, asset: Asset, amount_atomic: int) -> SafeString:
    """Coins on one line, and about what they are worth."""
    worth = _worth(store, asset, amount_atomic)
    coins = f"{_coins(amount_atomic, asset)}{'' if worth.startswith('≈') else ','}"
    return format_html('<span class="one-line">{}</span> {}', coins, worth)


def _coins(amount_atomic: int, asset: Asset) -> str:
    return f"{money.amount_text(amount_atomic, asset.atomic_decimals)} {asset.coin_symbol}"


def _earlier(payout: Payout) -> Section:
    return _payouts_of(payout.store, payout.mode, without=payout)


def _payouts_of(store: Store, mode: str, without: Payout | None = None) -> Section:
    rows = Payout.objects.filter(store=store, mode=mode).select_related("asset")
    rows = rows if without is None else rows.exclude(pk=without.pk)
    newest = list(rows.order_by("-created_at")[:PAYOUTS_MAX])
    counts = Counter(status_words("payout", payout.shown_status) for payout in newest)
    facts: list[tuple[str, Any]] = [("Payouts", _up_to(len(newest)))]
    facts += [(status, number) for status, number in counts.most_common()]
    paid = [payout for payout in newest if payout.status == Payout.Status.CONFIRMED]
    facts += [("Total paid out", text) for text in _sums(paid, store)]
    if newest:
        facts.append(("Latest", made_text(newest[0], newest[0].created_at)))
    page = reverse("admin:payouts_payout_changelist") + f"?q={store.pk}"
    title = "Payouts of the store" if without is None else "Other payouts of the store"
    return Section(title, facts, page, "All payouts")


def _destination(payout: Payout) -> Section:
    rows = Payout.objects.filter(store=payout.store_id, mode=payout.mode).exclude(pk=payout.pk)
    saved = payout.destination
    address = payout.destination_address
    facts: list[tuple[str, Any]] = []
    if saved is not None:
        facts.append(("Saved as", saved.label or saved.holder or "No label"))
        facts.append(("Added", made_text(saved, saved.created_at)))
        facts.append(("Verified", moment(saved.verified_at) if saved.verified_at else "No"))
    payouts = (
        rows.filter(destination_address=address) if address else rows.filter(destination=saved)
    )
    used = list(payouts.order_by("created_at").select_related("asset")[:PAYOUTS_MAX])
    facts.append(
        ("Payouts to this destination", _up_to(len(used)) if used else "None, this is the first")
    )
    if used:
        facts.append(("First used", made_text(used[0], used[0].created_at)))
        facts += [
            ("Total paid to this destination", text)
            for text in _sums(
                (payout for payout in used if payout.status == Payout.Status.CONFIRMED),
                payout.store,
            )
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
    return "No current rate" if worth is None else about(worth.cents, worth.currency)


def _person(payout: Payout) -> Section:
    maker: Any = payout.maker
    member = Member.objects.filter(store=payout.store_id, user=maker).first()
    facts: list[tuple[str, Any]] = [
        ("Email", maker.email),
        ("Role", member.get_role_display() if member is not None else "No longer a member"),
        ("Member since", moment(member.created_at) if member is not None else ""),
        ("Last sign-in", moment(maker.last_login) if maker.last_login else "Never"),
    ]
    return Section(
        "Requested by", facts, reverse("admin:stores_user_change", args=[maker.pk]), "Open person"
    )


def _sums(payouts: Iterable[Payout], store: Store) -> list[SafeString]:
    """By coin, each with what it is worth now."""
    sums: dict[str, int] = {}
    assets: dict[str, Asset] = {}
    for payout in payouts:
        assets[payout.asset_id] = payout.asset
        sums[payout.asset_id] = sums.get(payout.asset_id, 0) + payout.amount_atomic
    return [_valued(store, assets[asset_id], amount) for asset_id, amount in sorted(sums.items())]


def _up_to(count: int) -> str:
    return str(count) if count < PAYOUTS_MAX else f"{PAYOUTS_MAX} or more"
