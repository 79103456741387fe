"""Off-ramps: one contract for every adapter; what an HTTP one may answer; its signed callbacks,
taken once."""

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import reservations
from apps.core import clock
from apps.ledger.models import Movement
from apps.payouts.models import OfframpCallback, Payout
from apps.payouts.providers.base import (
    ACCEPTED,
    FAILED,
    SETTLED,
    Offramp,
    OfframpOrder,
    ProviderError,
)
from apps.payouts.providers.http import HttpOfframp
from apps.payouts.providers.sandbox import OfframpSandbox
from apps.payouts.services.progress import advance_payouts
from apps.stores.models.notifications import Notification
from tests import auditing, make
from tests.cast import Shop
from tests.contract.test_payouts import bank, rich

pytestmark = pytest.mark.django_db
SECRET = "callback secret"  # of the tests


class Bank:
    """An off-ramp behind HTTP, as docs/operators.md tells it: one order per reference."""

    def __init__(self, server: HTTPServer) -> None:
        self.orders: dict[str, dict[str, Any]] = {}
        self.requests: list[Request] = []
        self.status = 200
        self.looks = 0
        self.deposit_address = ""
        server.expect_request("/v1/payouts", method="POST").respond_with_handler(self._create)
        server.expect_request("/v1/quotes").respond_with_json(
            {"fiat_amount_cents": 179, "fee_cents": 1, "rate": "0.9"}
        )
        server.expect_request(re.compile("/v1/payouts/.+")).respond_with_handler(self._look)

    def _create(self, request: Request) -> Response:
        self.requests.append(request)
        told = json.loads(request.data)
        if self.status != 200:
            return Response("{}", self.status)
        order = self.orders.setdefault(
            told["reference"],
            {
                "id": f"po_{len(self.orders)}",
                "status": "pending",
                "deposit_address": self.deposit_address,
                **told,
            },
        )
        return self._tell(order)

    def _look(self, request: Request) -> Response:
        self.looks += 1
        order = self.orders.get(request.path.rpartition("/")[2])
        return self._tell(order) if order else Response("{}", 404)

    @staticmethod
    def _tell(order: dict[str, Any]) -> Response:
        return Response(json.dumps(order), content_type="application/json")

    def settle(self) -> None:
        for order in self.orders.values():
            order |= {
                "status": "settled",
                "fiat_amount_cents": 178,
                "fee_cents": 2,
                "rate": "0.9",
                "bank_reference": "REF 1",
            }


@pytest.fixture
def far(httpserver: HTTPServer) -> Bank:
    return Bank(httpserver)


@pytest.fixture
def http(httpserver: HTTPServer, far: Bank) -> HttpOfframp:
    return HttpOfframp(httpserver.url_for("/v1"), "key")


def order() -> OfframpOrder:
    asset = Asset.objects.select_related("chain").get(pk="ETH_USDC")
    at = clock.real_now() - timedelta(minutes=1)
    return OfframpOrder(
        "8f14e45f-0", "live", asset, 2_000_000, "EUR", "Alice", "DE89370400440532013000", 0, at, at
    )


@pytest.fixture(params=["sandbox", "http"])
def adapter(request: pytest.FixtureRequest, http: HttpOfframp) -> Offramp:
    return OfframpSandbox() if request.param == "sandbox" else http


class TestEveryAdapter:
    def test_quotes_what_would_land(self, adapter: Offramp) -> None:
        quote = adapter.quote(order().asset, 2_000_000, "EUR")
        assert quote.fiat_cents > 0 and quote.fee_cents >= 0 and quote.rate > 0

    def test_takes_an_order_once_and_says_when_it_is_paid(
        self, adapter: Offramp, far: Bank
    ) -> None:
        at = clock.real_now()
        first = adapter.create(order(), at)
        again = adapter.create(order(), at)
        assert (first.state, first.provider_id) == (
            ACCEPTED,
            again.provider_id,
        ) and first.provider_id
        waiting = replace(order(), submitted_at=at, submitted_real_at=at)
        assert adapter.look(waiting, at, at).state == ACCEPTED
        far.settle()
        done = adapter.look(order(), at, at)
        assert (
            done.state == SETTLED
            and done.fiat_cents
            and done.bank_reference
            and done.fee_cents is not None
        )


def test_the_order_tells_everything_under_our_reference_and_the_account_is_in_no_log(
    http: HttpOfframp, far: Bank
) -> None:
    http.create(order(), clock.real_now())
    (request,) = far.requests
    assert (
        request.headers["Idempotency-Key"] == "8f14e45f-0"
        and request.headers["Authorization"] == "Bearer key"
    )
    assert json.loads(request.data) == {
        "reference": "8f14e45f-0",
        "asset": "USDC",
        "network": "ethereum",
        "amount": "2",
        "currency": "EUR",
        "beneficiary": {"name": "Alice", "account": "DE89370400440532013000"},
    }
    assert "DE89" not in repr(order())


@pytest.mark.parametrize(
    ("status", "is_clear"), [(422, True), (400, True), (429, False), (500, False), (503, False)]
)
def test_a_refusal_is_a_failure_and_trouble_is_not(
    http: HttpOfframp, far: Bank, status: int, is_clear: bool
) -> None:
    far.status = status
    if is_clear:
        assert http.create(order(), clock.real_now()).state == FAILED
    else:
        with pytest.raises(ProviderError):
            http.create(order(), clock.real_now())


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (201, b"[" * 2000 + b"]" * 2000),
        (201, b'{"status": "accepted", "x": "' + b"x" * 9_000_000 + b'"}'),
        (302, b"{}"),
    ],
    ids=["deep", "large", "a redirect"],
)
def test_an_order_that_may_have_been_taken_has_not_failed(
    httpserver: HTTPServer, status: int, body: bytes
) -> None:
    """Its coins would be given back to the store, and paid out by the off-ramp too."""
    httpserver.expect_request("/strange/payouts").respond_with_data(
        body, status, {"Location": "/v1/payouts"}
    )
    with pytest.raises(ProviderError):
        HttpOfframp(httpserver.url_for("/strange"), "key").create(order(), clock.real_now())


@pytest.mark.parametrize(
    "answer",
    [
        [],
        "x",
        {},
        {"status": "paid"},
        {"status": "settled"},
        {"status": "settled", "fiat_amount_cents": "5"},
        {"status": "settled", "fiat_amount_cents": -1},
    ],
)
def test_what_can_not_be_read_is_never_a_settlement(httpserver: HTTPServer, answer: Any) -> None:
    httpserver.expect_request("/odd/payouts/8f14e45f-0").respond_with_json(answer)
    with pytest.raises(ProviderError):
        HttpOfframp(httpserver.url_for("/odd"), "key").look(
            order(), clock.real_now(), clock.real_now()
        )


def test_a_failure_keeps_its_category_or_is_unknown(httpserver: HTTPServer) -> None:
    for told, code in (
        ("destination_invalid", "destination_invalid"),
        ("strange", "unknown"),
        (None, "unknown"),
    ):
        body = {"status": "failed", "failure_code": told, "failure_message": "No such account"}
        httpserver.expect_ordered_request("/f/payouts/8f14e45f-0").respond_with_json(body)
        found = HttpOfframp(httpserver.url_for("/f"), "key").look(
            order(), clock.real_now(), clock.real_now()
        )
        assert (found.state, found.code, found.reason) == (FAILED, code, "No such account")


@pytest.fixture
def through_http(settings: Any, httpserver: HTTPServer) -> None:
    options = {"base_url": httpserver.url_for("/v1"), "api_key": "key"}
    entry = {"BACKEND": "apps.payouts.providers.http.HttpOfframp", "OPTIONS": options}
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "offramp": {**settings.PROVIDERS["offramp"], "live": [entry]},
    }
    settings.OFFRAMP_CALLBACK_SECRET = SECRET
    Asset.objects.filter(pk="ETH_USDC").update(is_active=True, contract_address="0x" + "c" * 40)


def test_a_bank_payout_goes_through_it_once_whatever_is_lost_on_the_way(
    bakery: Shop, far: Bank, through_http: None
) -> None:
    rich(bakery)
    far.status = 503
    made = make.payout(
        bakery.live, 2_000_000, asset_id="ETH_USDC", fiat_payout_detail_id=bank(bakery)
    )
    advance_payouts()
    failed = bakery.live.get(f"/payouts/{made['id']}").json()
    assert (failed["status"], failed["failure_code"], failed["funds_returned"]) == (
        "failed",
        "temporarily_unavailable",
        False,
    )
    far.status = 200
    Payout.objects.update(retry_at=clock.real_now())
    advance_payouts()
    assert bakery.live.get(f"/payouts/{made['id']}").json()["status"] == "submitted"
    far.settle()
    Payout.objects.update(asked_at=None)
    advance_payouts()
    done = bakery.live.get(f"/payouts/{made['id']}").json()
    assert (done["status"], done["paid_fiat_amount_cents"], done["paid_external_reference"]) == (
        "confirmed",
        178,
        "REF 1",
    )
    assert list(far.orders) == [f"{made['id']}-0"] and done["provider_tx_id"] == "po_0"


@pytest.mark.parametrize("is_settled_first", [False, True])
def test_coins_that_a_stopped_token_kept_back_set_out_again(
    bakery: Shop, far: Bank, through_http: None, is_settled_first: bool
) -> None:
    """Each time under a reference of its own, from what is owed to the off-ramp once."""
    rich(bakery)
    far.deposit_address = "0x" + "d" * 40
    made = make.payout(
        bakery.live, 2_000_000, asset_id="ETH_USDC", fiat_payout_detail_id=bank(bakery)
    )
    advance_payouts()
    first = f"{made['id']}-0"
    for number, reference in enumerate([first, *(f"{first}-{again}" for again in range(1, 6))]):
        row = OutgoingTransaction.objects.get(reference=reference)
        assert (row.to_address, row.amount_atomic) == (far.deposit_address, 2_000_000)
        assert OutgoingTransaction.objects.count() == number + 1
        assert reservations.refusals([row]) == {}
        if number == 5:
            break
        mined = {"nonce": number, "network_fee_atomic": 7, "block_number": 1}
        OutgoingTransaction.objects.filter(pk=row.pk).update(
            status="failed", reason_code="token_stopped", **mined
        )
        if is_settled_first:
            far.settle()
        Payout.objects.update(asked_at=None)
        advance_payouts()
        advance_payouts()
    OutgoingTransaction.objects.filter(pk=row.pk).update(
        status="confirmed", nonce=5, network_fee_atomic=7
    )
    far.settle()
    Payout.objects.update(asked_at=None)
    advance_payouts()
    advance_payouts()
    payout = Payout.objects.get()
    assert (payout.status, payout.funds) == ("confirmed", "paid")
    assert Movement.objects.filter(kind="payout_gas_paid").count() == 6
    assert Movement.objects.filter(kind="payout_settled").count() == 1
    assert auditing.found_of("payouts_sent_once", "movements_serve", "movements_balance") == []


def test_coins_in_review_on_their_way_to_the_off_ramp_are_told_of_once(
    bakery: Shop, far: Bank, through_http: None
) -> None:
    """The order waits, nothing is booked, and once they have left it goes on."""
    rich(bakery)
    far.deposit_address = "0x" + "d" * 40
    to = bank(bakery)
    made = make.payout(bakery.live, 2_000_000, asset_id="ETH_USDC", fiat_payout_detail_id=to)
    advance_payouts()
    OutgoingTransaction.objects.update(status="review")
    far.settle()
    for _ in range(2):
        Payout.objects.update(asked_at=None)
        advance_payouts()
    news = Notification.objects.filter(kind="payout_problem")
    assert list(news.values_list("title", "path")) == [
        ("Payout of 2 USDC is under review", f"/dashboard/payouts/{made['id']}")
    ]
    assert Payout.objects.get().funds == "clearing"
    OutgoingTransaction.objects.update(status="confirmed", nonce=5, network_fee_atomic=7)
    advance_payouts()
    assert Payout.objects.get().funds == "paid"
    assert OutgoingTransaction.objects.get().handled_status == "confirmed"
    assert auditing.found_of("payouts_sent_once", "movements_serve", "movements_balance") == []


def test_what_sets_out_again_counts_what_did_not_fail(
    bakery: Shop, far: Bank, through_http: None
) -> None:
    rich(bakery)
    far.deposit_address = "0x" + "d" * 40
    make.payout(bakery.live, 2_000_000, asset_id="ETH_USDC", fiat_payout_detail_id=bank(bakery))
    advance_payouts()
    first = OutgoingTransaction.objects.all()
    first.update(status="failed", reason_code="wallet_frozen", nonce=0, network_fee_atomic=7)
    advance_payouts()
    [again] = OutgoingTransaction.objects.filter(status="requested")
    OutgoingTransaction.objects.exclude(pk=again.pk).update(status="submitted")  # a reorg
    assert reservations.refusals([again]) == {again.pk: Reason.NOT_RESERVED}


def test_an_off_ramp_is_asked_more_and_more_rarely_until_it_calls(
    bakery: Shop, far: Bank, through_http: None
) -> None:
    rich(bakery)
    made = make.payout(
        bakery.live, 2_000_000, asset_id="ETH_USDC", fiat_payout_detail_id=bank(bakery)
    )
    for _ in range(4):
        advance_payouts()
    assert far.looks == 1
    hour_ago = clock.real_now() - timedelta(hours=1)
    Payout.objects.update(
        submitted_real_at=hour_ago, asked_at=clock.real_now() - timedelta(minutes=3)
    )
    advance_payouts()
    assert far.looks == 1
    Payout.objects.update(asked_at=clock.real_now() - timedelta(minutes=7))
    advance_payouts()
    assert far.looks == 2
    far.settle()
    body = json.dumps({"id": "evt_1", "reference": f"{made['id']}-0"}).encode()
    call(body, signed(body))
    advance_payouts()
    assert bakery.live.get(f"/payouts/{made['id']}").json()["status"] == "confirmed"


def signed(body: bytes, *, secret: str = SECRET, age: int = 0) -> str:
    moment = int(clock.real_now().timestamp()) - age
    mac = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
    return f"t={moment},v1={mac.hexdigest()}"


def call(body: bytes, signature: str) -> Any:
    return Client().post(
        "/api/v2/offramp_callbacks",
        body,
        content_type="application/json",
        headers={"Offramp-Signature": signature},
    )


def test_a_callback_is_taken_once(through_http: None) -> None:
    body = b'{"id": "evt_1"}'
    answers = [call(body, signed(body)) for _ in range(3)]
    assert [(answer.status_code, answer.json()["new"]) for answer in answers] == [
        (200, True),
        (200, False),
        (200, False),
    ]
    assert OfframpCallback.objects.count() == 1


SIGNATURES: list[tuple[str, Callable[[bytes], str]]] = [
    ("none", lambda body: ""),
    ("nonsense", lambda body: "x" * 500),
    ("another secret", lambda body: signed(body, secret="other")),
    ("another body", lambda body: signed(body + b" ")),
    ("an old one", lambda body: signed(body, age=310)),
    ("one from the future", lambda body: signed(body, age=-310)),
]


@pytest.mark.parametrize(
    "sign", [item[1] for item in SIGNATURES], ids=[item[0] for item in SIGNATURES]
)
def test_a_callback_with_a_wrong_signature_is_refused(
    through_http: None, sign: Callable[[bytes], str]
) -> None:
    body = b'{"id": "evt_1"}'
    assert call(body, sign(body)).status_code == 401 and not OfframpCallback.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"id": 5}',
        b'{"id": ""}',
        b'{"id": "\\u0000"}',
        b"\xff",
        b'{"id": "' + b"x" * 101 + b'"}',
    ],
)
def test_a_callback_without_a_readable_id_is_refused(through_http: None, body: bytes) -> None:
    assert call(body, signed(body)).status_code == 422


def test_without_a_secret_no_callback_is_taken(settings: Any) -> None:
    settings.OFFRAMP_CALLBACK_SECRET = ""
    assert call(b'{"id": "evt_1"}', signed(b'{"id": "evt_1"}', secret="")).status_code == 401
