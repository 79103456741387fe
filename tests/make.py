"""Makers: each goes through the API or a service, so that what it makes is what a customer's world
would hold."""

import secrets
import uuid
from datetime import timedelta
from typing import Any

from django.db import connection, transaction

from apps.assets.models import Asset
from apps.chain.models import AddressLook, UnmatchedTransfer
from apps.chain.simulated import put
from apps.core import clock, mail
from apps.core.models import OutgoingMail
from apps.ledger import movements
from apps.ledger.chart import CUSTODY_HOT
from apps.payments.models import Payment, PaymentAddress
from apps.payments.selectors import addresses_of
from apps.payments.services.corrections import CORRECTION, Correction, request_correction
from apps.payments.services.settle import settle_payment
from apps.payments.services.treasury import funding_key
from apps.stores.models import Store, User
from apps.stores.staff.four_eyes import approve
from apps.stores.staff_roles import StaffRole
from tests.cast import Api, Shop


def looked_at(id: str) -> None:
    """Nothing has come to the addresses of a payment, as the nodes would say after its deadline."""
    for address in PaymentAddress.objects.filter(payment_id=id).select_related("payment", "asset"):
        AddressLook.objects.update_or_create(
            address_id=address.address_id,
            defaults={
                "chain_id": address.asset.chain_id,
                "block_number": 1,
                "looked_until": address.payment.expires_at + timedelta(seconds=1),
            },
        )


def payment(api: Api, *, key: str | None = None, **fields: Any) -> dict[str, Any]:
    """A payment intent, 10.00 EUR by default."""
    answer = api.post(
        "/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR", **fields}}, key=key
    )
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def simulated(
    api: Api, payment_id: str, scenario: str | None = "exact", **fields: Any
) -> dict[str, Any]:
    """The intent after a simulated deposit."""
    answer = api.post(
        f"/payments/{payment_id}/simulated_payments",
        {**({"scenario": scenario} if scenario else {}), **fields},
    )
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def paid(api: Api, **fields: Any) -> dict[str, Any]:
    """A completed test payment."""
    return simulated(api, payment(api, **fields)["id"])


def detail(api: Api, payment_id: str) -> dict[str, Any]:
    answer = api.get(f"/payments/{payment_id}")
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def mail_leaves() -> None:
    """Everything that is due, in as many batches as it takes: other tests have committed theirs."""
    while mail.send_due():
        pass


def leases_end() -> None:
    """As if the seconds had passed after which the turns of a process that is dead are free."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE core_lease SET until = clock_timestamp()")


def advance(api: Api, seconds: int) -> dict[str, Any]:
    """Move the store's test clock."""
    answer = api.post("/test_clock/advance", {"seconds": seconds})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def late_deposit(payment_id: str, status: str = "confirmed") -> str:
    """The coins of an intent that has already ended, put on its first address; the deposit's id."""
    row = Payment.objects.select_related("store").get(pk=payment_id)
    entry = addresses_of(row)[0]
    at = clock.now(row.store, row.mode)
    with transaction.atomic():
        deposit, _ = put(
            entry.address_id,
            entry.asset,
            "late",
            amount_atomic=entry.required_atomic,
            confirmations=entry.required_confirmations,
            status=status,
            at=at,
        )
    settle_payment(row.pk)
    return str(deposit.pk)


def stray_transfer(payment_id: str, asset_id: str = "USDC_SETH", amount_atomic: int = 10**6) -> int:
    """Coins of another asset at an intent's first address; the id of the unmatched transfer that
    they are."""
    row = Payment.objects.select_related("store").get(pk=payment_id)
    entry = addresses_of(row)[0]
    at = clock.now(row.store, row.mode)
    asset = Asset.objects.select_related("chain").get(pk=asset_id)
    with transaction.atomic():
        deposit, _ = put(
            entry.address_id,
            asset,
            "stray",
            amount_atomic=amount_atomic,
            confirmations=asset.chain.required_confirmations,
            status="confirmed",
            at=at,
        )
    settle_payment(row.pk)
    return UnmatchedTransfer.objects.get(tx_hash=deposit.tx_hash).pk


def service_coins(asset_id: str, amount_atomic: int) -> None:
    """Coins of the service's own, in its hot wallet."""
    staff = clerk()
    _fund(asset_id, amount_atomic, staff)
    _leave(staff)


def store_coins(store: Store, asset_id: str, amount_atomic: int) -> None:
    """Coins that a store can spend, and the service has in its hot wallet."""
    staff = clerk()
    _fund(asset_id, amount_atomic, staff)
    _correct(asset_id, "available", store.pk, amount_atomic, staff)
    _leave(staff)


def swapped(shop: Shop, key: str = "swap") -> str:
    """The id of a new swap of test coins that the store has just got."""
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    store_coins(shop.store, "SETH", 10**18)
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(10**17),
    }
    answer = shop.test.post("/balance_swaps", body, key=key)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def clerk(*roles: str) -> User:
    """A member of finance staff, or in these roles."""
    return User.objects.create(
        email=f"staff-{uuid.uuid4().hex}@example.com",
        is_staff=True,
        staff_roles=sorted(roles or [StaffRole.FINANCE]),
    )


def _leave(staff: User) -> None:
    """Clear the queues that nobody writes to any more: further requests are served by those that
    are there."""
    User.objects.filter(pk=staff.pk).update(is_active=False)


def _fund(asset_id: str, amount_atomic: int, staff: User) -> None:
    """Book coins as if the chain had brought them to a hot wallet: by one, without a
    notification."""
    tx_hash = f"0x{secrets.token_hex(32)}"
    movements.correction(
        key=funding_key(tx_hash, asset_id),
        mode=Asset.objects.values_list("chain__mode", flat=True).get(pk=asset_id),
        asset_id=asset_id,
        kind=CUSTODY_HOT,
        store_id=None,
        amount_atomic=-amount_atomic,
        reason=f"Funded by {tx_hash}",
        staff_id=staff.pk,
        at=clock.real_now(),
    )


def _correct(
    asset_id: str,
    kind: str,
    store_id: uuid.UUID | None,
    amount_atomic: int,
    staff: User,
    reason: str = "A test begins",
) -> None:
    """By two, of whose emails nobody's mailbox is full: the second comes when the first has asked,
    and isn't written to about that."""
    asset = Asset.objects.select_related("chain").get(pk=asset_id)
    store = Store.objects.get(pk=store_id) if store_id else None
    wanted = Correction(uuid.uuid4().hex, asset, kind, store, amount_atomic)
    at = clock.real_now()
    request = request_correction(wanted, reason, staff, at)
    second = clerk()
    approve(CORRECTION, request.pk, second, at, digest=request.digest, reason=reason)
    _leave(second)
    OutgoingMail.objects.filter(template="staff_request").delete()


# --- payouts --------------------------------------------------------------------------------------


def funded(api: Api, amount: str = "1000.00") -> int:
    """Complete a test payment; what can be spent of the test coin then."""
    paid(api, amount=amount)
    entry = next(
        balance
        for balance in api.get("/balances").json()["balances"]
        if balance["asset_id"] == "SETH"
    )
    return int(entry["balance_atomic"])


def fresh_address() -> str:
    """An address that nobody has used."""
    return "0x" + secrets.token_hex(20)


def ask_payout(
    api: Api,
    amount_atomic: object,
    *,
    key: str | None = None,
    asset_id: str = "SETH",
    **fields: Any,
) -> Any:
    """The answer to POST /payouts, to a fresh address by default."""
    body = {
        "asset_id": asset_id,
        "amount_atomic": amount_atomic,
        **(fields or {"destination_address": fresh_address()}),
    }
    return api.post("/payouts", body, key=key or uuid.uuid4().hex)


def payout(api: Api, amount_atomic: int, **fields: Any) -> dict[str, Any]:
    answer = ask_payout(api, str(amount_atomic), **fields)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def detail_of_payout(api: Api, payout_id: str) -> dict[str, Any]:
    answer = api.get(f"/payouts/{payout_id}")
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body
