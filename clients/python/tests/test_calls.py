"""Calls when the service is slow, busy, broken or says no."""

import json
import unittest
from typing import Any

import httpx

import tillgate
from tillgate.calls import BACKOFF_SECONDS
from tillgate.webhooks import VerificationError

VECTOR = "2162bf7f12f6bd816ac20ae9920aab256ceebf1d79bee37b16b5841e8457938b"
PAYMENT = {"id": "5f8c2a30-0000-4000-8000-000000000001", "status": "a_newer_one", "surprise": 1}


class Server:
    """Answers what it is told to, in order, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked = list[httpx.Request]()
        self.slept: list[float] = []
        transport = httpx.MockTransport(self._answer)
        self.client = tillgate.Client("svc_sk_test_x", "http://till.example/", transport=transport)
        self.client._api._sleep = self.slept.append

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body, *headers = answer
        return httpx.Response(status, json=body, headers=dict(headers))

    def create(self, **options: Any) -> Any:
        return self.client.payments.create(amount="10.00", currency="EUR", **options)


class SignedAmounts(unittest.TestCase):
    def test_a_signature_is_what_the_service_computes(self) -> None:
        order = {"amount": "49.00", "currency": "EUR", "order_id": "A-1001"}
        self.assertEqual(tillgate.sign_amount("svc_sk_test_x", **order), VECTOR)
        with self.assertRaises(ValueError):
            tillgate.sign_amount("svc_sk_test_x", amount="49.00", currency="EUR", order_id="")


class Retries(unittest.TestCase):
    def test_what_may_have_happened_is_asked_again_under_one_key(self) -> None:
        server = Server(httpx.ReadTimeout("slow"), (503, {}, ("Retry-After", "7")), (201, PAYMENT))
        self.assertEqual(server.create().id, PAYMENT["id"])
        keys = {one.headers["Idempotency-Key"] for one in server.asked}
        self.assertEqual((len(server.asked), len(keys)), (3, 1))
        self.assertEqual(server.slept[1], 7)
        self.assertTrue(BACKOFF_SECONDS / 2 <= server.slept[0] <= BACKOFF_SECONDS)

    def test_two_calls_have_two_keys_and_yours_is_kept(self) -> None:
        server = Server((201, PAYMENT), (201, PAYMENT), (201, PAYMENT))
        for options in ({}, {}, {"idempotency_key": "order-1"}):
            server.create(**options)
        first, second, third = (one.headers["Idempotency-Key"] for one in server.asked)
        self.assertNotEqual(first, second)
        self.assertEqual(third, "order-1")

    def test_it_ends_with_the_last_error(self) -> None:
        server = Server(*[(502, {"error": {"message": "Broken", "code": None}})] * 3)
        with self.assertRaises(tillgate.Unavailable) as refused:
            server.client.balances.retrieve()
        self.assertEqual((len(server.asked), str(refused.exception)), (3, "Broken"))

    def test_without_a_key_only_what_surely_did_not_happen_goes_again(self) -> None:
        limited = (429, {"error": "Slow down"}, ("Retry-After", "2"))
        server = Server(limited, (200, {}), (503, {"error": "Later"}))
        server.client.products.create(name="Beans")
        self.assertEqual((len(server.asked), server.slept), (2, [2]))
        with self.assertRaises(tillgate.Unavailable):
            server.client.products.create(name="Beans")
        self.assertEqual(len(server.asked), 3)

    def test_nobody_waits_for_an_hour(self) -> None:
        server = Server((429, {"error": "Later"}, ("Retry-After", "3600")))
        with self.assertRaises(tillgate.RateLimitError) as refused:
            server.client.balances.retrieve()
        self.assertEqual((refused.exception.retry_after, server.slept), (3600, []))

    def test_a_call_may_have_its_own_options(self) -> None:
        server = Server(httpx.ConnectError("no"), (200, PAYMENT))
        options = tillgate.Options(timeout=3, max_retries=0, account="acct")
        with self.assertRaises(tillgate.ConnectionFailed):
            server.create(options=options)
        asked = server.asked[0]
        self.assertEqual(asked.headers["X-Service-Account"], "acct")
        self.assertEqual(asked.extensions["timeout"]["read"], 3)

    def test_a_redirect_is_no_answer(self) -> None:
        server = Server((302, {}, ("Location", "https://evil.example/")))
        with self.assertRaises(tillgate.Error):
            server.create()
        self.assertEqual(len(server.asked), 1)


class Answers(unittest.TestCase):
    def test_every_shape_of_a_refusal_is_read(self) -> None:
        def coded(message: str, code: str | None) -> dict[str, Any]:
            return {"error": {"message": message, "code": code}}

        old = {"error": "invalid_grant", "error_description": "Old"}
        shapes: list[tuple[int, Any, type[tillgate.Error], str, str | None]] = [
            (422, {"error": "a is required"}, tillgate.InvalidRequestError, "a is required", None),
            (
                401,
                coded("No", "invalid_api_key"),
                tillgate.AuthenticationError,
                "No",
                "invalid_api_key",
            ),
            (403, coded("No", None), tillgate.PermissionDenied, "No", None),
            (404, coded("Not found", None), tillgate.NotFoundError, "Not found", None),
            (409, {"errors": ["Taken", "Again"]}, tillgate.ConflictError, "Taken; Again", None),
            (400, old, tillgate.InvalidRequestError, "Old", "invalid_grant"),
        ]
        for status, body, cls, message, code in shapes:
            server = Server((status, body, ("X-Request-Id", "r1")))
            with self.assertRaises(cls) as refused:
                server.client.payments.retrieve("x")
            error = refused.exception
            self.assertEqual((str(error), error.code, error.request_id), (message, code, "r1"))

    def test_the_field_of_a_broken_rule_is_named(self) -> None:
        server = Server((422, {"error": "line_items[0].quantity is required"}))
        with self.assertRaises(tillgate.InvalidRequestError) as refused:
            server.create()
        self.assertEqual(refused.exception.param, "line_items[0].quantity")

    def test_an_unknown_field_is_named_with_the_one_that_may_be_meant(self) -> None:
        flat = {"error": "Unknown field: amount_atomic", "nearest": "amount"}
        coded = {"error": {"message": "Unknown field: x", "code": "unknown_field", "nearest": "y"}}
        for body, param, nearest in ((flat, "amount_atomic", "amount"), (coded, "x", "y")):
            with self.assertRaises(tillgate.InvalidRequestError) as refused:
                Server((422, body)).create()
            self.assertEqual((refused.exception.param, refused.exception.nearest), (param, nearest))

    def test_what_a_newer_service_says_breaks_nothing(self) -> None:
        payment = Server((201, PAYMENT)).create()
        self.assertEqual((payment.status, payment.title), ("a_newer_one", None))

    def test_a_field_that_is_a_word_of_python_is_read(self) -> None:
        told = {"from": "pending", "to": "submitted", "at": "2026-01-01T00:00:00Z"}
        server = Server((200, {"id": "x", "state_transitions": [told]}))
        payout = server.client.payouts.retrieve("x")
        self.assertEqual(payout.state_transitions[0].from_, "pending")

    def test_an_id_stays_in_its_place(self) -> None:
        server = Server((404, {}))
        with self.assertRaises(tillgate.NotFoundError):
            server.client.payments.retrieve("../balances?x=1")
        self.assertEqual(server.asked[0].url.raw_path, b"/api/v2/payments/..%2Fbalances%3Fx%3D1")
        for id in ("", ".", ".."):
            with self.assertRaises(ValueError):
                server.client.payments.retrieve(id)

    def test_a_list_asks_for_pages_as_it_goes_and_tells_nothing_twice(self) -> None:
        def page(number: int, *ids: str) -> Any:
            rows = [{"id": one} for one in ids]
            figures = {"page": number, "per_page": 2, "total": 3, "total_pages": 2}
            return 200, {"data": rows, "meta": figures}

        server = Server(page(1, "c", "b"), page(2, "b", "a"))
        rows = iter(server.client.payments.list(status="completed", from_="2026-01-01"))
        self.assertEqual(next(rows).id, "c")
        self.assertEqual(len(server.asked), 1)
        self.assertEqual([one.id for one in rows], ["b", "a"])
        query = dict(server.asked[1].url.params)
        self.assertEqual(query["page"], "2")
        self.assertEqual((query["status"], query["from"]), ("completed", "2026-01-01"))

    def test_what_does_something_is_sent_at_once_though_it_answers_with_a_list(self) -> None:
        server = Server((201, [{"id": "r1"}]))
        made = server.client.refunds.create("p1")
        self.assertEqual([one.id for one in made], ["r1"])
        self.assertEqual((len(server.asked), server.asked[0].method), (1, "POST"))

    def test_a_feed_goes_on_from_its_last_record(self) -> None:
        server = Server(
            (200, {"data": [{"id": "b", "data": {"object": {}}}], "has_more": True}),
            (200, {"data": [{"id": "a", "data": {"object": {}}}], "has_more": False}),
        )
        self.assertEqual([one.id for one in server.client.events.list()], ["b", "a"])
        self.assertEqual(server.asked[1].url.params["before"], "b")

    def test_no_secret_stands_in_its_name(self) -> None:
        server = Server()
        self.assertNotIn("svc_sk", repr(server.client))

    def test_a_wrong_address_is_told_at_once(self) -> None:
        for address in ("till.example", "ftp://till.example", "http://till.example:x", ""):
            with self.assertRaises(ValueError):
                tillgate.Client("svc_sk_test_x", address)
        with self.assertRaises(ValueError):
            tillgate.Client("", "http://till.example")


class Webhooks(unittest.TestCase):
    SECRET = "whsec_" + "0a" * 32
    BODY = json.dumps({"id": "e1", "type": "invoice.paid", "data": {"object": {"a": "Ä"}}}).encode()

    def header(self, moment: int) -> str:
        return tillgate.webhooks.sign(self.BODY, self.SECRET, moment)

    def test_what_is_signed_now_is_genuine(self) -> None:
        import time

        event = tillgate.webhooks.verify(self.BODY, self.header(int(time.time())), self.SECRET)
        self.assertEqual((event.type, event.data.object), ("invoice.paid", {"a": "Ä"}))

    def test_anything_else_is_not(self) -> None:
        import time

        now = int(time.time())
        good = self.header(now)
        wrong = [
            (self.BODY + b" ", good),
            (self.BODY, self.header(now - 301)),
            (self.BODY, self.header(now + 301)),
            (self.BODY, good.replace("v1=", "v0=")),
            (self.BODY, good.replace(f"t={now}", f"t={now - 1}")),
            (self.BODY, f"t={now},v1=é"),
            (self.BODY, f"t={now}"),
            (self.BODY, "t=,v1=0"),
            (self.BODY, ""),
            (self.BODY, None),
        ]
        for body, header in wrong:
            with self.assertRaises(VerificationError, msg=header):
                tillgate.webhooks.verify(body, header, self.SECRET)
        with self.assertRaises(VerificationError):
            tillgate.webhooks.verify(self.BODY, good, "whsec_other")
        tillgate.webhooks.verify(self.BODY, self.header(now - 301), self.SECRET, tolerance=600)

    def test_an_empty_secret_is_a_mistake_and_not_a_forgery(self) -> None:
        with self.assertRaises(ValueError):
            tillgate.webhooks.verify(self.BODY, self.header(1), "")

    def test_a_body_that_was_parsed_is_a_mistake_that_says_so(self) -> None:
        for parsed, said in (({"id": "e"}, "not the parsed one"), (None, "no body"), (5, "raw")):
            with self.assertRaisesRegex(TypeError, said):
                tillgate.webhooks.verify(parsed, self.header(1), self.SECRET)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
