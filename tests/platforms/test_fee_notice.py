"""A platform raises its fee: those who pay it are notified, live payments bear it fifteen days
later, and never more than the ceiling that staff have set."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail

from apps.core import clock, mail
from apps.stores.models import Member, Notification, Role, Store, Verification
from apps.stores.services import change_store
from apps.stores.staff import four_eyes, terms
from tests import make
from tests.cast import join, person
from tests.dashboard.browse import Browser, text
from tests.platforms.makers import Platform, Sub, refusal

CONTACT = "owner@bakery.example"


@pytest.fixture
def merchant(platform: Platform) -> Sub:
    """Of two percent, with a contact that a person has approved and one member."""
    made = platform.sub(platform_fee_percentage="0.02")
    platform.attest(made.id)
    Verification.objects.filter(store_id=made.id).update(
        status="approved", reviewed_at=clock.real_now()
    )
    join(made.store, person("viewer"), Role.VIEWER)
    return made


def raised(platform: Platform, merchant: Sub, fee: str | None, mode: str = "live") -> Any:
    api = platform.live if mode == "live" else platform.test
    body = {"account": {"platform_fee_percentage": fee}}
    answer = api.patch(f"/platform/accounts/{merchant.id}", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def fee_of(merchant: Sub, mode: str = "live") -> Any:
    api = merchant.live if mode == "live" else merchant.test
    return make.payment(api)["platform_fee_percentage"]


def days_later(days: float) -> Any:
    return time_machine.travel(clock.real_now() + timedelta(days=days), tick=True)


def emails() -> dict[str, Any]:
    mail.send_due()
    return {item.to[0]: item for item in django_mail.outbox if "raises its fee" in item.subject}


def test_a_raise_waits_fifteen_days_and_everybody_who_pays_it_is_told(
    platform: Platform, merchant: Sub
) -> None:
    answer = raised(platform, merchant, "0.98")
    assert answer["platform_fee_percentage"] == "0.02"
    assert answer["next_platform_fee_percentage"] == "0.98"
    assert fee_of(merchant) == "0.02"
    sent = emails()
    member = Member.objects.get(store_id=merchant.id).user.email
    assert set(sent) == {CONTACT, member}
    assert "from 2% to 98%" in sent[CONTACT].body
    notification = Notification.objects.get(store_id=merchant.id, kind="platform_fee")
    assert "98%" in notification.text and notification.mode == "live"
    with days_later(14.9):
        assert fee_of(merchant) == "0.02"
    with days_later(15.1):
        assert fee_of(merchant) == "0.98"
        account = platform.live.get(f"/platform/accounts/{merchant.id}").json()
        assert account["platform_fee_percentage"] == "0.98"
        assert "next_platform_fee_percentage" not in account


def test_test_payments_bear_it_immediately(platform: Platform, merchant: Sub) -> None:
    """So that an integration is tried as the API documents it."""
    answer = raised(platform, merchant, "0.09", "test")
    assert answer["platform_fee_percentage"] == "0.09"
    assert (fee_of(merchant, "test"), fee_of(merchant)) == ("0.09", "0.02")


def test_a_fee_is_lowered_immediately_and_nobody_is_written_to(
    platform: Platform, merchant: Sub
) -> None:
    raised(platform, merchant, "0.01")
    assert fee_of(merchant) == "0.01" and emails() == {}


def test_a_waiting_raise_is_taken_back_and_a_second_one_waits_anew(
    platform: Platform, merchant: Sub
) -> None:
    raised(platform, merchant, "0.05")
    with days_later(14):
        raised(platform, merchant, "0.05")
        raised(platform, merchant, "0.9")
    with days_later(16):
        assert fee_of(merchant) == "0.02"
        raised(platform, merchant, "0.02")
    with days_later(40):
        assert fee_of(merchant) == "0.02"


def test_the_same_fee_again_waits_no_longer(platform: Platform, merchant: Sub) -> None:
    raised(platform, merchant, "0.05")
    with days_later(10):
        raised(platform, merchant, "0.05")
    with days_later(15.1):
        assert fee_of(merchant) == "0.05"


def test_the_default_instead_of_a_lower_fee_is_a_raise(platform: Platform, merchant: Sub) -> None:
    change_store(platform.store, platform_fee_fraction=Decimal("0.5"))
    raised(platform, merchant, None)
    assert fee_of(merchant) == "0.02" and CONTACT in emails()


def test_a_ceiling_of_staff_is_never_passed(platform: Platform, merchant: Sub) -> None:
    change_store(platform.store, platform_fee_ceiling_fraction=Decimal("0.1"))
    body = {"account": {"platform_fee_percentage": "0.11"}}
    for answer in (
        platform.live.patch(f"/platform/accounts/{merchant.id}", body),
        platform.test.patch(f"/platform/accounts/{merchant.id}", body),
        platform.ask(platform_fee_percentage="0.11"),
    ):
        error = refusal(answer, 422, "invalid_account")
        assert "platform_fee_percentage is above the ceiling of 0.1" in error["message"]
    raised(platform, merchant, "0.1")
    change_store(platform.store, platform_fee_ceiling_fraction=Decimal("0.015"))
    assert (fee_of(merchant), fee_of(merchant, "test")) == ("0.015", "0.015")


def test_a_default_that_staff_raise_waits_for_those_who_pay_it(platform: Platform) -> None:
    change_store(platform.store, platform_fee_fraction=Decimal("0.01"))
    inherits, has_own = platform.sub(), platform.sub(platform_fee_percentage="0.02")
    at = clock.real_now()
    first, second = make.clerk("admin"), make.clerk("admin")
    store = Store.objects.get(pk=platform.store.pk)
    row = terms.request_terms(
        store, {"platform_fee_fraction": Decimal("0.3")}, "A new contract", first, at
    )
    four_eyes.approve(terms.TERMS, row.pk, second, at, digest=row.digest, reason="Seen")
    assert (fee_of(inherits), fee_of(has_own)) == ("0.01", "0.02")
    with days_later(15.1):
        assert (fee_of(inherits), fee_of(has_own)) == ("0.3", "0.02")


def test_the_page_of_the_account_says_so(platform: Platform, merchant: Sub) -> None:
    owner = Browser(platform.shop.owner).prove()
    page = f"platform/accounts/{merchant.id}"
    assert "takes effect after 15 days" in text(owner.get(page))
    raised(platform, merchant, "0.05")
    assert "Raised: live payments bear it from" in text(owner.get(page))
