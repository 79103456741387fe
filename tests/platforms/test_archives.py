"""The archives that a reset of test data leaves: what goes there, and what staff see of them."""

import pytest
from django.conf import LazySettings

from apps.audit.grants import SIGNER
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import caps, reservations
from apps.core import clock
from apps.core.models import OutgoingMail, RowFailure
from apps.ledger.models import Account
from apps.platforms.services import test_data
from apps.stores.emailing import customer_mail
from apps.stores.models import Notification, Store
from tests import auditing, make
from tests.cast import Cast
from tests.dashboard.browse import text
from tests.platforms.test_test_data import STAYS, archive_of, ask, reset, rows_of, work
from tests.roles import acting_as
from tests.staff.test_roles import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _at_once(settings: LazySettings) -> None:
    settings.TEST_RESET_SECONDS = 0


def test_what_a_job_writes_again_between_stops_nothing(cast: Cast) -> None:
    """The archive has such a notification, and an account of this coin, already."""
    shop = cast.bakery
    note = {"kind": "webhook_failed", "subject": "1", "title": "A", "path": "/"}

    def writes() -> None:
        make.store_coins(shop.store, "SETH", 10**6)
        Notification.objects.create(
            store=shop.store, mode="test", created_at=clock.real_now(), **note
        )

    writes()
    ask(cast)
    work()
    writes()
    work()
    assert not RowFailure.objects.filter(job=test_data.JOB.name).exists()
    assert shop.test.get("/balances").json()["balances"] == []
    left = rows_of("t.store_id = %s AND t.mode = 'test'", shop.store.pk)
    assert {table for table, rows in left.items() if rows} <= STAYS
    first, further = Store.objects.filter(archive_of=shop.store).order_by("deleted_at")
    assert {first.deleted_at, further.deleted_at} == {first.created_at, further.created_at}
    assert Account.objects.filter(store=further, mode="test").exists()
    auditing.add_up()
    assert auditing.breaches() == []


def test_what_waits_to_be_signed_is_still_backed_by_the_books(cast: Cast) -> None:
    """It stays the store's, as it was approved, and the coins set aside for it are an archive's."""
    shop = cast.bakery
    make.funded(shop.test)
    paid = make.paid(shop.test, amount="100.00")["id"]
    payout = make.payout(shop.test, 10**16)["id"]
    body = {"refund": {"amount": "0.001", "destination_address": make.fresh_address()}}
    answer = shop.test.post(f"/payments/{paid}/refunds", body, key="refund")
    assert answer.status_code == 201, answer.content
    (refund,) = answer.json()
    rows = [
        OutgoingTransaction.objects.create(
            mode="test",
            store=shop.store,
            chain_id="sepolia",
            asset_id="SETH",
            purpose=purpose,
            reference=reference,
            to_address=make.fresh_address(),
            amount_atomic=amount,
            requested_at=clock.real_now(),
        )
        for purpose, reference, amount in (
            ("payout", f"{payout}-0", 10**16),
            ("refund", refund["id"], 10**15),
        )
    ]
    assert reservations.refusals(rows) == {}
    reset(cast)
    assert {row.store for row in OutgoingTransaction.objects.all()} == {shop.store}
    with acting_as(SIGNER):
        assert reservations.refusals(rows) == {}
        assert caps._rooms(rows[1:]).keys() == {rows[1].pk}
    for row in rows:
        row.store = cast.strangers.store
    assert len(reservations.refusals(rows)) == 2


def test_an_archive_writes_to_nobody(cast: Cast, settings: LazySettings) -> None:
    settings.TEST_MAIL_TO_EVERYBODY = True
    reset(cast)
    letter = {"key": "late", "to": "carla@example.com", "template": "receipt", "context": {}}
    assert not customer_mail.send(archive_of(cast.bakery), "test", **letter)  # type: ignore[arg-type]
    assert not OutgoingMail.objects.filter(key="late").exists()


def test_staff_read_of_an_archive_what_it_is_and_are_offered_nothing(cast: Cast) -> None:
    reset(cast)
    archive = archive_of(cast.bakery)
    browser = signed_in(make.clerk("admin", "operations", "finance"))
    path = f"/admin/stores/store/{archive.pk}/change/"
    page = text(browser.get(path))
    assert "Past test data of" in page and f"/admin/stores/store/{cast.bakery.store.pk}/" in page
    for offer in ("Suspend", "Turn on", "Turn off", "Change agents", "Latest live", ">Save<"):
        assert offer not in page, offer
    sent = {"part": "fees", "fee_fraction": "2", "reason": "A look", "confirmed": "yes"}
    assert browser.post(path, **sent).status_code == 403
    archive.refresh_from_db()
    assert archive.fee_fraction == cast.bakery.store.fee_fraction
