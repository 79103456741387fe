"""Networks that hang, lie, repeat themselves, come out of order or talk about the other mode change
nothing that they shouldn't."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from apps.core import clock
from apps.onramp.models import Callback, Credential, FundingSession, SessionChange
from apps.onramp.services import progress
from apps.payments.models import Payment
from tests import auditing, make
from tests.cast import Api, Shop
from tests.onramp.cards import ask, credential, methods, opened, row
from tests.onramp.network import Stand, signed

pytestmark = pytest.mark.django_db
METHOD = "onramper.creditcard"
HANGING_SECONDS = 60


@pytest.fixture(autouse=True)
def _books_are_right(db: None) -> Iterator[None]:
    yield
    assert auditing.breaches() == []


@pytest.fixture
def stand(httpserver: HTTPServer, settings: Any) -> Stand:
    """Both modes have the embedded network and behind it an Onramper of ours, with credentials of
    each mode."""
    made = Stand(httpserver)
    options = {"base_url": made.url, "floor_cents": 500, "quote_seconds": 2}
    entry = {"BACKEND": "apps.onramp.providers.onramper.Onramper", "OPTIONS": options}
    told = settings.PROVIDERS["onramp"]
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "onramp": {mode: [*told[mode], entry] for mode in told},
    }
    return made


@pytest.fixture
def secret(stand: Stand, db: None) -> Credential:
    credential("live")
    return credential("test")


@pytest.fixture
def made(shop: Shop, secret: Credential) -> dict[str, Any]:
    return make.payment(shop.test, amount="50.00")


def tell(secret: Credential, body: dict[str, Any], **headers: str) -> Any:
    raw, mark = signed(body)
    return Api()("POST", f"/onramp_callbacks/{secret.pk}", raw=raw, **{**mark, **headers})


def number_of(session: dict[str, Any]) -> str:
    return str(session["provider_txid"])


# --- prices ---


def networks_in(body: dict[str, Any]) -> set[str]:
    return {payment_method["id"].partition(".")[0] for payment_method in body["payment_methods"]}


def test_both_networks_are_asked_and_ranked_together(made: dict[str, Any]) -> None:
    body = methods(made).json()
    assert (
        networks_in(body) == {"sandbox", "onramper"}
        and body["payment_methods"][0]["id"] == "sandbox.sepa"
    )
    pinned = methods(made, "?provider=onramper").json()
    assert (pinned["provider"], networks_in(pinned)) == ("onramper", {"onramper"})
    assert pinned["payment_methods"][0]["provider_id"] == "banxa"


def test_prices_are_asked_once_per_intent_and_place(made: dict[str, Any], stand: Stand) -> None:
    assert methods(made).json() == methods(made).json()
    assert len(stand.asked) == 1
    methods(made, "?country=FR")
    assert len(stand.asked) == 2


@pytest.fixture
def hanging(stand: Stand, settings: Any) -> Iterator[None]:
    """The outside network answers nothing until the test is over."""
    until = threading.Event()

    def hang(request: Request) -> Response:
        until.wait(HANGING_SECONDS)
        return Response("{}")

    stand.server.clear()
    stand.server.expect_request("/supported/payment-types/eur").respond_with_handler(hang)
    settings.CARD_DEADLINE_SECONDS = 0.5
    yield
    until.set()


def test_a_network_that_hangs_costs_only_itself(made: dict[str, Any], hanging: None) -> None:
    began = time.monotonic()
    body = methods(made).json()
    assert networks_in(body) == {"sandbox"} and time.monotonic() - began < HANGING_SECONDS


def test_past_the_deadline_without_any_quote_it_is_worth_another_try(
    made: dict[str, Any], hanging: None
) -> None:
    for answer in (
        methods(made, "?provider=onramper"),
        ask(made, payment_method_id=METHOD, provider="onramper"),
    ):
        assert (answer.status_code, answer.json()) == (502, {"error": "No quote in time"})
    assert not FundingSession.objects.exists()


LIES: list[dict[str, str]] = [
    {"payout": "5"},
    {"payout": "0.0001"},
    {"networkFee": "60"},
    {"transactionFee": "-1"},
    {"ramp": ""},
    {"ramp": "x" * 99},
    {"payout": "a"},
]


def test_an_offer_that_cant_be_right_is_left_out(
    shop: Shop, secret: Credential, stand: Stand
) -> None:
    for lie in LIES:
        made = make.payment(shop.test, amount="50.00")  # of each, prices are asked once
        stand.lies = lie
        assert networks_in(methods(made).json()) == {"sandbox"}, lie
        answer = ask(made, payment_method_id=METHOD)
        assert (answer.status_code, answer.json()) == (
            422,
            {"error": "Card payments are not available for this amount"},
        ), lie


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (500, (502, "Payment provider error")),
        (400, (422, "Card payments are not available for this amount")),
    ],
)
def test_what_could_not_be_opened_leaves_no_session(
    shop: Shop, made: dict[str, Any], stand: Stand, status: int, expected: tuple[int, str]
) -> None:
    stand.status_of_open = status
    answer = ask(made, payment_method_id=METHOD)
    assert (answer.status_code, answer.json()) == (expected[0], {"error": expected[1]})
    assert not FundingSession.objects.exists()
    now = Payment.objects.get(pk=made["id"])
    assert (now.is_card_funded, now.held_open_until) == (False, None)
    stand.status_of_open = 200
    assert opened(made, METHOD)["url"].startswith("https://buy.example/")


# --- callbacks ---


@pytest.fixture
def session(made: dict[str, Any]) -> dict[str, Any]:
    return opened(made, METHOD)


def test_a_signed_callback_moves_its_session_once(
    session: dict[str, Any], secret: Credential, stand: Stand
) -> None:
    paid = stand.told(number_of(session), status="paid")
    assert tell(secret, paid).json() == {"result": "applied"}
    first = row(session)
    assert first.status == "paid" and first.paid_at is not None
    assert tell(secret, paid).json() == {"result": "no_change"}
    assert tell(secret, {**paid, "statusDate": "later"}).json() == {"result": "no_change"}
    assert row(session).paid_at == first.paid_at
    assert SessionChange.objects.filter(session=first, to_status="paid").count() == 1


def test_what_comes_out_of_order_moves_nothing_back(
    session: dict[str, Any], secret: Credential, stand: Stand
) -> None:
    for status, result in (
        ("completed", "applied"),
        ("pending", "no_change"),
        ("failed", "no_change"),
        ("new", "no_change"),
    ):
        assert tell(secret, stand.told(number_of(session), status=status)).json() == {
            "result": result
        }
    assert row(session).status == "paid"


OF_ANOTHER: list[dict[str, Any]] = [
    {"inAmount": 1},
    {"inAmount": 50.01},
    {"sourceCurrency": "usd"},
    {"walletAddress": "0x" + "11" * 20},
    {"transactionId": "another"},
]


def test_a_callback_about_another_payment_is_refused_and_kept(
    session: dict[str, Any], secret: Credential, stand: Stand
) -> None:
    for lie in OF_ANOTHER:
        answer = tell(secret, stand.told(number_of(session), status="paid", **lie))
        assert answer.json() == {"result": "refused"}, lie
        assert row(session).status == "pending", lie
        (kept,) = Callback.objects.filter(session=row(session))
        assert kept.verdict == "refused", lie
        kept.delete()


def test_the_other_modes_network_has_no_say(
    shop: Shop, session: dict[str, Any], secret: Credential, stand: Stand
) -> None:
    live = Credential.objects.get(mode="live")
    assert tell(live, stand.told(number_of(session), status="paid")).json() == {"result": "unknown"}
    assert row(session).status == "pending"


def test_another_stores_credential_has_no_say(
    shop: Shop, session: dict[str, Any], stand: Stand, cast: Any
) -> None:
    theirs = credential("test", store=cast.strangers.store)
    assert tell(theirs, stand.told(number_of(session), status="paid")).json() == {
        "result": "unknown"
    }
    assert row(session).status == "pending"


def test_an_unsigned_callback_is_refused_and_leaves_no_trace(
    session: dict[str, Any], secret: Credential, stand: Stand
) -> None:
    paid = stand.told(number_of(session), status="paid")
    for headers in (
        {"X-Onramper-Webhook-Signature": ""},
        {"X-Onramper-Webhook-Signature": signed(paid, "other")[1].popitem()[1]},
    ):
        answer = tell(secret, paid, **headers)
        assert (answer.status_code, answer.json()) == (
            401,
            {"error": {"message": "Signature is not valid", "code": "invalid_signature"}},
        )
    assert row(session).status == "pending" and not Callback.objects.exists()


@pytest.mark.parametrize("id", ["00000000-0000-4000-8000-000000000000", "x"])
def test_an_unknown_address_takes_no_callbacks(db: None, id: str) -> None:
    assert Api().post(f"/onramp_callbacks/{id}", {"status": "paid"}).status_code == 404


def test_a_paid_card_brings_no_money_by_itself(
    shop: Shop, made: dict[str, Any], session: dict[str, Any], secret: Credential, stand: Stand
) -> None:
    tell(secret, stand.told(number_of(session), status="completed"))
    now = make.detail(shop.test, made["id"])
    assert (now["status"], now["amount_paid"], now["transaction"]) == ("pending", "0.00", None)


# --- polling ---


def due(session: dict[str, Any]) -> None:
    FundingSession.objects.filter(pk=session["id"]).update(
        next_poll_at=clock.real_now() - timedelta(seconds=1)
    )


def test_without_callbacks_the_network_is_asked(session: dict[str, Any], stand: Stand) -> None:
    stand.orders[number_of(session)]["now"] = "paid"
    progress.follow()
    assert row(session).status == "pending", "it isn't time yet"
    due(session)
    progress.follow()
    assert row(session).status == "paid"
    assert SessionChange.objects.get(session=row(session), to_status="paid").source == "poll"


def test_a_session_is_asked_about_a_last_time_before_it_ends(
    shop: Shop, made: dict[str, Any], session: dict[str, Any], stand: Stand
) -> None:
    stand.orders[number_of(session)]["now"] = "completed"
    make.advance(shop.test, 25 * 3600)
    assert row(session).status == "paid"


def test_a_network_that_is_down_ends_no_session_for_a_day(
    shop: Shop, session: dict[str, Any], stand: Stand
) -> None:
    stand.server.clear()
    ended = row(session).expires_at
    progress.expire(row(session).pk, ended + timedelta(hours=1))
    assert row(session).status == "pending"
    progress.expire(row(session).pk, ended + timedelta(hours=25))
    assert row(session).status == "expired"


def test_while_a_network_is_down_its_session_past_its_time_is_still_the_one(
    shop: Shop, made: dict[str, Any], session: dict[str, Any], stand: Stand
) -> None:
    stand.server.clear()
    FundingSession.objects.filter(pk=session["id"]).update(expires_at=clock.now(shop.store, "test"))
    assert opened(made, METHOD)["id"] == session["id"]
