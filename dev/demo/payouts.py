"""The demo's payouts: saved destinations, a payout in each state that a merchant meets, and a
weekly schedule."""

from datetime import timedelta

from apps.access.access import ACT, Access
from apps.assets.models import Asset
from apps.ledger.selectors import balances
from apps.payouts.models import Destination, Schedule
from apps.payouts.requests import PayoutRequest, RawAddress, ScheduleRequest, WalletTarget
from apps.payouts.services.approvals import maker_of
from apps.payouts.services.create import make_payout
from apps.payouts.services.destinations import add_bank, add_wallet
from apps.payouts.services.schedules import create_schedule
from apps.stores.models import Store, User
from apps.stores.services import change_store

# Nobody's: the demo's chains are local.
COLD_WALLET = "0x7e57c01d00000000000000000000000000c01d01"
SUPPLIER = "0x7e5750991e000000000000000000000000509912"
IBAN = "DE89370400440532013000"
COIN = "SETH"
# (what becomes of it, the store waits for a person from this many cents on, to the saved wallet)
WISHES = (
    ("to the cold wallet", None, True),
    ("to a supplier", None, False),
    ("that waits for review", 0, False),
)


def seed_payouts(store: Store, merchant: User) -> None:
    """Once, in a store that has no destinations yet."""
    access = Access.for_session(merchant, store, "test", proof=ACT)
    if Destination.objects.visible_to(access).exists():
        return
    wallet = add_wallet(store, "test", "sepolia", COLD_WALLET, "Cold wallet")
    for mode in ("test", "live"):
        add_bank(
            store,
            mode,
            currency="EUR",
            holder="Demo Coffee GmbH",
            account=IBAN,
            label="Business account",
            is_verified=True,
        )
    asset = Asset.objects.get(pk=COIN)
    balance = balances(store.pk, "test").get(COIN)
    amount = (balance.available_atomic if balance is not None else 0) // 10
    if amount >= asset.min_withdrawal_atomic:
        for name, threshold, is_saved in WISHES:
            change_store(store, payout_review_threshold_cents=threshold)
            to = WalletTarget(str(wallet.pk)) if is_saved else RawAddress(SUPPLIER)
            wish = PayoutRequest(COIN, amount, to)
            make_payout(access, wish, f"demo: {name}", maker=maker_of(access), caller=access.caller)
        change_store(store, payout_review_threshold_cents=None)
    _schedule(access, wallet)


def _schedule(access: Access, wallet: Destination) -> None:
    first = access.now() + timedelta(days=7)
    order = ScheduleRequest(
        asset_id=COIN,
        frequency=Schedule.Frequency.WEEKLY,
        crypto_payout_detail_id=str(wallet.pk),
        minimum_fiat_cents=50000,
        minimum_fiat_currency="EUR",
        next_payout_at=first,
    )
    create_schedule(access, order)
