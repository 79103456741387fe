"""The payment of an order, as django-payments has it: `PAYMENT_MODEL`."""

from typing import Any

from django.db import models
from django.urls import reverse
from oscar.core.loading import get_model
from payments.models import BasePayment


class Payment(BasePayment):
    """Made before its order, which is found by its number: oscar takes payments first."""

    order_number = models.CharField(max_length=128, db_index=True)

    def order(self) -> Any:
        return get_model("order", "Order").objects.filter(number=self.order_number).first()

    def get_success_url(self) -> str:
        return reverse("checkout:thank-you")

    def get_failure_url(self) -> str:
        """The order's page, which leads back to the payment page."""
        order = self.order()
        if order is None:
            return reverse("basket:summary")
        if order.user_id:
            return reverse("customer:order", args=[order.number])
        return reverse("customer:anon-order", args=[order.number, order.verification_hash()])
