"""Against a running Tillgate: TILLGATE_URL says which, TILLGATE_API_KEY is a key of test mode."""

import os
import unittest
import uuid
from itertools import islice

import tillgate


class Running(unittest.TestCase):
    client: tillgate.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = tillgate.Client(os.environ["TILLGATE_API_KEY"], os.environ["TILLGATE_URL"])
        cls.addClassCleanup(cls.client.close)

    def payment(self, **fields: str) -> tillgate.models.PaymentIntent:
        return self.client.payments.create(amount="10.00", currency="EUR", **fields)  # type: ignore[arg-type]

    def test_a_payment_is_created_once_per_key_and_paid(self) -> None:
        key = str(uuid.uuid4())
        first = self.client.payments.create(amount="10.00", currency="EUR", idempotency_key=key)
        again = self.client.payments.create(amount="10.00", currency="EUR", idempotency_key=key)
        self.assertEqual(first.id, again.id)
        self.assertEqual(first.payment_addresses[0].status, "pending")
        paid = self.client.payments.simulate(first.id, scenario="exact")
        self.assertEqual(paid.status, "completed")
        detail = self.client.payments.retrieve(first.id)
        assert detail.financials is not None
        self.assertEqual(detail.financials.gross_amount, "10.00")
        told = [one.event_type for one in self.client.payments.events(first.id)]
        self.assertIn("payment_intent.completed", told)

    def test_a_payment_is_refunded(self) -> None:
        self.client.payments.simulate(
            self.client.payments.create(amount="100.00", currency="EUR").id
        )
        paid = self.client.payments.simulate(self.payment().id)
        refund = self.client.refunds.create(paid.id, idempotency_key=str(uuid.uuid4()))[0]
        self.assertEqual([one.id for one in self.client.refunds.list(paid.id)], [refund.id])

    def test_lists_page_by_themselves(self) -> None:
        made = {self.payment().id for _ in range(3)}
        seen = [one.id for one in islice(self.client.payments.list(per_page=2), 5)]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertTrue(made <= set(seen))
        page = self.client.payments.list(per_page=2).page(2)
        self.assertEqual((page.page, len(page.data)), (2, 2))

    def test_events_come_newest_first(self) -> None:
        reference = self.payment().reference
        event = next(iter(self.client.events.list()))
        self.assertEqual(event.type, "payment_intent.created")
        self.assertEqual(event.data.object["id"], reference)

    def test_refusals_have_a_class(self) -> None:
        with self.assertRaises(tillgate.InvalidRequestError) as refused:
            self.client.payments.create(amount="0", currency="EUR")
        self.assertEqual((refused.exception.param, refused.exception.status), ("amount", 422))
        with self.assertRaises(tillgate.NotFoundError):
            self.client.payments.retrieve(str(uuid.uuid4()))
        with tillgate.Client("svc_sk_test_wrong", os.environ["TILLGATE_URL"]) as stranger:
            with self.assertRaises(tillgate.AuthenticationError) as unknown:
                stranger.balances.retrieve()
            self.assertIsNotNone(unknown.exception.request_id)

    def test_every_kind_of_answer_is_read(self) -> None:
        self.assertTrue(self.client.catalog.assets().page().data[0].asset_id)
        self.assertTrue(self.client.balances.retrieve().settlement_balance)
        self.assertTrue(self.client.test_clock.retrieve().now)
        customer = self.client.customers.create(email=f"{uuid.uuid4().hex}@example.com", name="Ann")
        self.assertEqual(self.client.customers.retrieve(customer.id).name, "Ann")
        self.client.customers.delete(customer.id)
        paid = self.client.payments.simulate(self.payment().id)
        self.assertTrue(self.client.payments.invoice(paid.id).startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main()
