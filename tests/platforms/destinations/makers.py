"""Destinations of sub-merchants in live mode: how they are named, paid and written about."""

import re
from datetime import timedelta
from typing import Any

import time_machine
from django.core import mail as django_mail
from django.test import Client

from apps.core import clock, mail
from apps.payouts.models import Destination, Payout
from apps.platforms.services.verifications import approve_verification
from apps.stores.models import Verification
from tests import make
from tests.platforms.makers import VERIFICATION, Platform, Sub

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
CONTACT = VERIFICATION["contact_email"]
WAITS = re.compile(r"This destination can be used from 20")


def approve(merchant: Sub) -> None:
    approve_verification(Verification.objects.get(store_id=merchant.id, status="pending"))


def verified(platform: Platform, **fields: Any) -> Sub:
    """A sub-merchant whose details, and contact, a person has approved; with live coins."""
    merchant = platform.sub(kyc=False)
    assert platform.attest(merchant.id, **fields).status_code == 201
    approve(merchant)
    make.store_coins(merchant.store, "ETH", 10**18)
    return merchant


def minted(
    platform: Platform, merchant: Sub, purpose: str = "payout_destination", **fields: Any
) -> str:
    body = {"purpose": purpose, "return_url": "https://shop.example/back", **fields}
    answer = platform.live.post(f"/platform/accounts/{merchant.id}/onboarding_links", body)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["token"])


def name(token: str, address: str = WALLET) -> Any:
    return Client().post(
        f"/onboarding/{token}/payout", {"kind": "wallet", "network": "ethereum", "address": address}
    )


def named(platform: Platform, merchant: Sub, address: str = WALLET) -> str:
    """A wallet named through a fresh link: the path of its page."""
    answer = name(minted(platform, merchant), address)
    assert answer.status_code == 303, answer.content
    return str(answer["Location"])


def emails() -> list[Any]:
    mail.send_due()
    return [email for email in django_mail.outbox if "payout destination" in email.subject]


def code_in(email: Any) -> str:
    return re.search(r"^ +(\d{4} \d{4})$", email.body, re.M).group(1)  # type: ignore[union-attr]


def stop_in(email: Any) -> str:
    return re.search(r"/onboarding/stop/\S+", email.body).group()  # type: ignore[union-attr]


def text(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def wrong(code: str) -> str:
    return f"{(int(code.replace(' ', '')) + 1) % 10**8:08d}"


def later(**span: float) -> Any:
    return time_machine.travel(clock.real_now() + timedelta(**span), tick=True)


def pay(merchant: Sub, key: str = "k", **to: str) -> Any:
    return merchant.live.post(
        "/payouts", {"asset_id": "ETH", "amount_atomic": str(10**17), **to}, key=key
    )


def saved(merchant: Sub) -> Destination:
    found: Destination = Destination.objects.get(store_id=merchant.id)
    return found


def refused_for_now(merchant: Sub) -> None:
    """Nothing goes there by any way that a platform has."""
    where = str(saved(merchant).pk)
    for to in ({"destination_address": WALLET}, {"crypto_payout_detail_id": where}):
        answer = pay(merchant, key=str(to), **to)
        assert (
            answer.status_code == 422 and "This destination can be used" in answer.content.decode()
        ), answer.content
    raw = {
        "payout_schedule": {"asset_id": "ETH", "frequency": "daily", "destination_address": WALLET}
    }
    answer = merchant.live.post("/payout_schedules", raw)
    assert (
        answer.status_code == 422 and "This destination can be used" in answer.content.decode()
    ), answer.content
    assert not Payout.objects.filter(store_id=merchant.id).exists()
