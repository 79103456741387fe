"""An owner resets the test data: nothing shows the records of before any more, live mode and other
stores stay as they are, and the books stay whole."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import DatabaseError, connection, transaction
from django.test import Client

from apps.access import operations
from apps.access.access import ACT, Access
from apps.access.factors import stepup
from apps.audit.grants import WEB, WORKER
from apps.core import clock
from apps.ledger.models import Account
from apps.links.models import PaymentLink
from apps.payments import seals
from apps.payments.models import Payment
from apps.payments.services.settle import settle_payment
from apps.payouts.services.destinations import add_wallet
from apps.platforms.services import test_data
from apps.stores.auditing.seals import seal_lines
from apps.stores.models import AuditEntry, Member, Role, Store
from apps.stores.test_data import DataBeingReset
from apps.webhooks.models import Delivery, Endpoint, Event, QueuedDelivery
from tests import auditing, make
from tests.billing import records as billing
from tests.cast import Cast, Shop, assemble, join, person, signed_in
from tests.dashboard.browse import Browser, text
from tests.links.makers import made_link
from tests.make import fresh_address
from tests.platforms.conftest import platform_of
from tests.roles import acting_as
from tests.stage import standing

DAY = 86_400
HOOK = {"url": "https://1.1.1.1/hook", "subscribed_events": ["payment_intent.completed"]}
# Lists that the API has of test mode.
LISTS = (
    "/payments",
    "/payouts",
    "/balance_swaps",
    "/billing/customers",
    "/billing/products",
    "/billing/invoices",
    "/billing/subscriptions",
)
# Tables with a store and a mode whose rows of test mode stay: who may come in, what is set, and
# sums that follow from payments.
STAYS = {
    "access_accesstoken",
    "access_agentcredential",
    "access_apikey",
    "access_grant",
    "access_refreshtoken",
    "assets_acceptedasset",
    "chain_ownwallet",
    "chain_walletchoice",
    "onramp_credential",
    "payments_hourlysum",
    "payments_paymentchange",
    "payments_paymentemail",
    "payments_soldspan",
    "payments_soldsum",
    "payouts_approvalrule",
    "stores_auditentry",
    "stores_workerorder",
    "webhooks_endpoint",
}


@pytest.fixture(autouse=True)
def _at_once(settings: LazySettings) -> None:
    settings.TEST_RESET_SECONDS = 0


def past_of(shop: Shop) -> dict[str, str]:
    """A store's test mode with something of each kind, and what is left of it to ask for."""
    api = shop.test
    make.funded(api)
    waiting = make.payment(api, key="order 1", metadata={"customer_email": "carla@example.com"})
    paid = make.paid(api, key="order 2")
    make.simulated(api, make.payment(api)["id"], "overpaid")
    payout = make.payout(api, 10**17, key="payout 1")
    make.swapped(shop)
    api.post(f"/payments/{paid['id']}/refunds", {"refund": {"amount_atomic": "1000"}})
    add_wallet(shop.store, "test", "sepolia", fresh_address())
    link = made_link(shop)
    invoice = billing.opened(api)
    billing.ask_subscription(
        api, customer_id=billing.customer(api)["id"], price_id=billing.price(api)["id"]
    )
    late = make.payment(api)
    make.advance(api, 40 * DAY)
    make.late_deposit(late["id"])
    return {
        "payment": waiting["id"],
        "late": late["id"],
        "payout": payout["id"],
        "invoice": invoice["id"],
        "invoice_url": invoice["hosted_url"],
        "link": str(link.token),
    }


def with_a_past() -> tuple[Cast, dict[str, str]]:
    cast = assemble()
    assert cast.strangers and cast.bakery.test and cast.bakery.live
    return cast, past_of(cast.bakery)


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[Cast, dict[str, str]]]:
    yield from standing(django_db_blocker, with_a_past)


@pytest.fixture
def cast(stage: tuple[Cast, dict[str, str]], db: None) -> Cast:
    return stage[0].again()


@pytest.fixture
def past(stage: tuple[Cast, dict[str, str]]) -> dict[str, str]:
    return stage[1]


def hooked(shop: Shop) -> Endpoint:
    answer = shop.test.post("/webhook_endpoints", {"webhook_endpoint": HOOK})
    assert answer.status_code == 201, answer.content
    found: Endpoint = Endpoint.objects.get(pk=answer.json()["id"])
    return found


def seal() -> None:
    seal_lines(clock.real_now())
    seals.seal_payments(clock.real_now())


def rows_of(condition: str, *arguments: uuid.UUID) -> dict[str, list[str]]:
    """The rows of each table with a store and a mode for which the condition holds, as text."""
    found = {}
    with connection.cursor() as cursor:
        for table in tables():
            cursor.execute(f"SELECT t::text FROM {table} t WHERE {condition}", arguments)
            found[table] = sorted(row for (row,) in cursor.fetchall())
    return found


def tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace"
            " AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND 2 = (SELECT count(*) FROM"
            " pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('store_id', 'mode'))"
        )
        return [name for (name,) in cursor.fetchall()]


def ask(cast: Cast) -> None:
    test_data.ask_reset(signed_in(cast.alice, Store.objects.get(pk=cast.bakery.store.pk)))


def work() -> None:
    """Run the job with a worker's rights."""
    with acting_as(WORKER):
        assert test_data.put_away() == 1


def reset(cast: Cast) -> None:
    ask(cast)
    work()
    work()
    cast.bakery.store.refresh_from_db()
    assert cast.bakery.store.test_reset_at is None


def archive_of(shop: Shop) -> Store:
    return Store.objects.filter(archive_of=shop.store).order_by("-deleted_at")[0]


def test_after_a_reset_nothing_of_before_is_shown_or_counted(
    cast: Cast, past: dict[str, str]
) -> None:
    shop = cast.bakery
    reset(cast)
    for path in LISTS:
        found = shop.test.get(path).json()
        assert (found["data"] if isinstance(found, dict) else found) == [], path
    for path in (f"/payments/{past['payment']}", f"/payouts/{past['payout']}"):
        assert shop.test.get(path).status_code == 404
    assert shop.test.get(f"/billing/invoices/{past['invoice']}").status_code == 404
    answer = shop.test.get("/balances").json()
    assert answer["balances"] == [] and answer["settlement_balance"]["amount_cents"] == 0
    visitor = Client()
    assert visitor.get(f"/p/{past['payment']}").status_code == 404
    assert visitor.get(past["invoice_url"]).status_code == 404
    assert visitor.get(f"/pay/{past['link']}").status_code == 404
    left = rows_of("t.store_id = %s AND t.mode = 'test'", shop.store.pk)
    assert {table for table, rows in left.items() if rows} <= STAYS
    browser = Browser(cast.alice)
    assert "carla@example.com" not in text(browser.get("payments"))
    assert "No results" in text(browser.get("search", data={"q": "carla@example.com"}))
    assert "€" not in text(browser.get("balances")) or "€0.00" in text(browser.get("balances"))
    assert clock.offset(shop.store, "test").total_seconds() == 0


def test_what_opens_the_store_and_what_is_set_stays(cast: Cast) -> None:
    shop = cast.bakery
    hooked(shop)
    before = rows_of("t.store_id = %s AND t.mode = 'test'", shop.store.pk)
    reset(cast)
    after = rows_of("t.store_id = %s AND t.mode = 'test'", shop.store.pk)
    for table in ("access_apikey", "assets_acceptedasset", "webhooks_endpoint"):
        assert after[table] == before[table] != [], table
    assert Member.objects.get(store=shop.store).user == cast.alice


def test_live_mode_and_other_stores_stay_as_they_are(cast: Cast) -> None:
    shop, other = cast.bakery, cast.strangers
    make.payment(shop.live, key="live 1")
    make.paid(other.test)
    make.payment(other.live)
    condition = "t.mode = 'live' OR t.store_id = %s"
    before = rows_of(condition, other.store.pk)
    reset(cast)
    after = rows_of(condition, other.store.pk)
    assert after == before


def test_the_books_seals_and_kept_facts_are_whole_after_one_reset_and_after_two(
    cast: Cast,
) -> None:
    shop = cast.bakery
    make.payment(shop.live)
    seal()
    assert auditing.breaches() == []
    for _ in range(2):
        point = auditing.point_here()
        entries = rows_of("true")["ledger_account"]
        reset(cast)
        auditing.add_up()
        seal()
        assert auditing.breaches() == []
        assert auditing.changed_facts(point) == []
        assert len(rows_of("true")["ledger_account"]) >= len(entries)
        make.paid(shop.test, key="order 2")
        make.payout(shop.test, 10**15, key="payout 1")
        seal()
    assert Store.objects.filter(archive_of=shop.store).count() == 2
    assert shop.test.get("/payments").json()["meta"]["total"] == 1


def test_keys_of_requests_are_free_again(cast: Cast) -> None:
    shop = cast.bakery
    first = make.payment(shop.test, key="order 3")["id"]
    assert make.payment(shop.test, key="order 3")["id"] == first
    reset(cast)
    again = make.payment(shop.test, key="order 3")["id"]
    assert again != first
    assert make.payment(shop.test, key="order 3")["id"] == again


def test_coins_that_come_to_an_address_of_before_are_the_archives(
    cast: Cast, past: dict[str, str]
) -> None:
    shop = cast.bakery
    reset(cast)
    make.late_deposit(past["payment"])
    settle_payment(uuid.UUID(past["payment"]))
    assert shop.test.get("/balances").json()["balances"] == []
    assert not Event.objects.filter(store=shop.store, mode="test").exists()
    assert Payment.objects.get(pk=past["payment"]).store == archive_of(shop)
    assert auditing.breaches() == []


def test_webhooks_that_wait_are_not_sent_any_more(cast: Cast) -> None:
    shop = cast.bakery
    endpoint = hooked(shop)
    make.paid(shop.test)
    waiting = Delivery.objects.filter(endpoint=endpoint, status="pending")
    assert waiting.exists()
    reset(cast)
    assert not waiting.exists()
    assert not QueuedDelivery.objects.filter(endpoint=endpoint).exists()
    make.paid(shop.test)
    assert Delivery.objects.get(endpoint=endpoint, status="pending").store == shop.store


def test_test_mode_is_closed_until_it_is_done_and_live_mode_is_not(
    cast: Cast, past: dict[str, str]
) -> None:
    shop = cast.bakery
    ask(cast)
    browser = Browser(cast.alice)
    for _ in range(2):
        answer = shop.test.get("/payments")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "test_data_resetting")
        assert shop.test.post("/payments", {}).status_code == 409
        assert "Test data is being reset" in text(browser.get("payments"))
        assert browser.post("payments/new", amount="1").status_code == 409
        assert Client().get(f"/pay/{past['link']}").status_code == 404
        assert make.payment(shop.live)["id"]
        with pytest.raises(DataBeingReset):
            ask(cast)
        work()
    assert shop.test.get("/payments").status_code == 200
    assert "Test data is being reset" not in text(browser.get("payments"))


def test_nobody_is_hurried_out_of_test_mode(cast: Cast, settings: LazySettings) -> None:
    """Requests that began before have the time that a request may take."""
    settings.TEST_RESET_SECONDS = 30
    ask(cast)
    work()
    assert Payment.objects.filter(store=cast.bakery.store, mode="test").exists()
    assert Store.objects.get(pk=cast.bakery.store.pk).test_reset_moved_at is None


def test_what_a_job_still_writes_between_goes_too(cast: Cast) -> None:
    shop = cast.bakery
    ask(cast)
    work()
    left = Event.objects.filter(store=archive_of(shop), mode="test").first()
    assert left is not None
    Event.objects.filter(pk=left.pk).update(store=shop.store)  # by who read it before
    work()
    assert not Event.objects.filter(store=shop.store, mode="test").exists()
    assert auditing.breaches() == []


@pytest.mark.parametrize("role", [role for role in Role.values if role != Role.OWNER])
def test_only_owners_reset(cast: Cast, role: str) -> None:
    zoe = person("zoe")
    join(cast.bakery.store, zoe, role)
    with pytest.raises(operations.RoleForbids):
        test_data.ask_reset(signed_in(zoe, cast.bakery.store, role=role))
    assert Browser(zoe).get("test-data").status_code == 403
    assert Browser(zoe).post("test-data", reset="all").status_code == 403


def test_no_key_resets_and_nothing_without_a_code(cast: Cast) -> None:
    with pytest.raises(operations.WrongCredential):
        test_data.ask_reset(cast.bakery.access())
    owner = signed_in(cast.alice, cast.bakery.store)
    with pytest.raises(stepup.StepUpRequired):
        test_data.ask_reset(Access.for_session(cast.alice, cast.bakery.store, "test", proof=""))
    assert owner.proof == ACT
    browser = Browser(cast.alice)
    asked = browser.post("test-data", reset="all")
    assert "Verify it’s you" in text(asked)
    assert not Store.objects.exclude(test_reset_at=None).exists()


def test_live_data_is_never_reset(cast: Cast) -> None:
    with pytest.raises(test_data.OnlyTestMode):
        test_data.ask_reset(signed_in(cast.alice, cast.bakery.store, "live"))


def test_an_owner_reads_what_goes_and_resets_with_a_code(cast: Cast) -> None:
    browser = Browser(cast.alice, answers=True).prove()
    page = text(browser.get("test-data"))
    assert (
        "<dt>Payments</dt><dd>5</dd>" in page
        and "What stays" in page
        and "webhook endpoints" in page
    )
    done = browser.post("test-data", reset="all")
    assert done.status_code == 303
    work()
    work()
    assert "<dt>Payments</dt><dd>0</dd>" in text(browser.get("test-data"))
    acts = AuditEntry.objects.filter(store_id=cast.bakery.store.pk, action__startswith="test_data")
    assert list(acts.order_by("id").values_list("action", flat=True)) == [
        "test_data.reset_asked",
        "test_data.reset",
        "test_data.opened",
    ]


def test_a_platform_resets_its_sub_merchants_too_and_none_resets_alone(cast: Cast) -> None:
    platform = platform_of(cast.bakery)
    sub = platform.sub()
    make.paid(sub.test, amount="50.00")
    make.payment(sub.live)
    live = rows_of("t.mode = 'live'")
    assert auditing.breaches() == []
    with pytest.raises(test_data.ByItsPlatform):
        test_data.ask_reset(signed_in(cast.alice, sub.store))
    reset(cast)
    assert platform.test.get("/platform/payments").json()["data"] == []
    assert sub.test.get("/payments").json()["data"] == []
    assert platform.test.get("/balances").json()["balances"] == []
    assert Store.objects.get(pk=sub.id).archive_of is None
    assert rows_of("t.mode = 'live'") == live
    auditing.add_up()
    assert auditing.breaches() == []


def test_too_much_is_refused_before_anything_closes(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_data, "PAYMENTS_MAX", 1)
    for _ in range(2):
        make.payment(cast.bakery.test)
    with pytest.raises(test_data.TooMuchTestData):
        ask(cast)
    assert shop_is_open(cast)


def shop_is_open(cast: Cast) -> bool:
    return bool(cast.bakery.test.get("/payments").status_code == 200)


def refusal_of(sql: str, *arguments: uuid.UUID | str | int) -> str:
    """The error of a statement, of which nothing stays; empty without one."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, arguments)
            transaction.set_rollback(True)
    except DatabaseError as error:
        return str(error)
    return ""


def test_the_database_moves_nothing_that_nobody_asked_for(cast: Cast) -> None:
    make.paid(cast.bakery.test)
    call = "SELECT stores_put_away(%s, ARRAY[%s]::uuid[])"
    own, other = cast.bakery.store.pk, cast.strangers.store.pk
    with acting_as(WEB):
        assert "permission denied" in refusal_of(call, own, uuid.uuid4())
    with acting_as(WORKER):
        assert "nobody asked" in refusal_of(call, own, uuid.uuid4())
    ask(cast)
    with acting_as(WORKER):
        assert "nobody asked" in refusal_of(call, other, uuid.uuid4())
        assert "needs an archive" in refusal_of("SELECT stores_put_away(%s, ARRAY[]::uuid[])", own)


@pytest.mark.parametrize("mode", ["test", "live"])
def test_an_account_goes_to_no_other_store(cast: Cast, mode: str) -> None:
    """Not even by the owner of the tables, and not back from the archive."""
    make.paid(cast.bakery.test)
    make.store_coins(cast.bakery.store, "ETH" if mode == "live" else "SETH", 10**6)
    reset(cast)
    make.store_coins(cast.bakery.store, "SETH", 10**6)
    account = Account.objects.filter(store=cast.bakery.store, mode=mode).first()
    assert account is not None
    move = "UPDATE ledger_account SET store_id = %s WHERE id = %s"
    assert "never changed" in refusal_of(move, cast.strangers.store.pk, account.pk)
    archive = archive_of(cast.bakery)
    if mode == "live":
        assert "never changed" in refusal_of(move, archive.pk, account.pk)
    put_away = Account.objects.filter(store=archive)[0]
    assert "never changed" in refusal_of(move, cast.bakery.store.pk, put_away.pk)
    with acting_as(WORKER):
        assert "permission denied" in refusal_of(move, archive.pk, account.pk)


def test_an_archive_takes_and_sends_nothing(cast: Cast, past: dict[str, str]) -> None:
    reset(cast)
    archive = archive_of(cast.bakery)
    assert archive.deleted_at is not None and not Member.objects.filter(store=archive).exists()
    before = Payment.objects.filter(store=archive).count()
    link = PaymentLink.objects.get(token=past["link"])
    assert Client().post(f"/pay/{link.token}", {"form_key": "a" * 32}).status_code == 404
    row = Payment.objects.filter(store=archive).values().first()
    assert row is not None
    insert = "INSERT INTO payments_payment SELECT (jsonb_populate_record(p, %s::jsonb)).*"
    insert += " FROM payments_payment p WHERE id = %s"
    wish = json.dumps({"id": str(uuid.uuid4())})
    assert "are suspended" in refusal_of(insert, wish, row["id"])
    assert Payment.objects.filter(store=archive).count() == before
