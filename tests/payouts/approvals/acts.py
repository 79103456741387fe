"""Requests and decisions about payouts that wait, and reads of them."""

from typing import Any

from django.core import mail as django_mail

from apps.access.access import Access
from apps.core import mail
from apps.payouts.models import Payout, PayoutApproval
from apps.payouts.requests import PayoutRequest, RawAddress
from apps.payouts.services import batches
from apps.payouts.services.approval_decisions import approve, digest_of
from apps.payouts.services.create import create_payout
from tests import make
from tests.payouts.two_people import Two

ADDRESS = "0x52908400098527886e0f7030069857d2e4169ee7"
OTHER = "0x8617e340b3d01fa5f11f306f4090fd50e238070d"


def pay(access: Access, amount: int, key: str = "one") -> Payout:
    asset = "SETH" if access.mode == "test" else "ETH"
    asked = PayoutRequest(asset, amount, RawAddress(ADDRESS))
    return create_payout(access, asked, key, caller=access.caller)[0]


def agree(access: Access, held: PayoutApproval) -> None:
    approve(access, held, digest_of(held))


def state(id: object) -> tuple[str, str, str | None]:
    row = Payout.objects.get(pk=str(id))
    return row.status, row.funds, row.approval.status if row.approval is not None else None


def emails() -> list[tuple[str, str]]:
    mail.send_due()
    return [(email.to[0], str(email.subject)) for email in django_mail.outbox]


def release(two: Two, lines: int = 3) -> Any:
    raw = "asset_id,amount,destination\n" + "".join(
        f"SETH,0.05,{make.fresh_address()}\n" for _ in range(lines)
    )
    by = two.as_adam()
    batch = batches.open_batch(
        by, two.cast.bakery.store, two.adam, filename="pay.csv", raw=raw.encode(), form_key="a" * 32
    )
    batches.release_batch(by, batch, two.adam, batch.digest)
    batch.refresh_from_db()
    return batch
