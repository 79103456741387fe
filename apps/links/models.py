"""Ways to be paid without an integration: links that many customers pay, and sales at the till.

A link with a stock never has more payments that are open or completed than pieces: a payment holds
a piece from its creation on, and gives it back when it ends unpaid (services.buy).
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower

from apps.core.ids import IdField
from apps.core.models import RowWithFormKey, once_per_form
from apps.payments.models import Payment
from apps.stores.models import Currency

TOKEN_LENGTH = 12


class PaymentLink(RowWithFormKey):
    """A page that any number of customers can pay at, each by a payment of their own."""

    class Ask(models.TextChoices):
        """A question to customers about themselves."""

        NO = "no", "Don't ask"
        OPTIONAL = "optional", "Optional"
        REQUIRED = "required", "Required"

    token = models.CharField(max_length=TOKEN_LENGTH, unique=True, db_collation="C")
    title = models.CharField(max_length=150)
    description = models.CharField(max_length=500, null=True)
    currency = models.CharField(max_length=3, choices=Currency.choices)
    amount_cents = models.BigIntegerField(null=True)  # without one the customer chooses
    min_cents = models.BigIntegerField(null=True)
    max_cents = models.BigIntegerField(null=True)
    suggested_cents = ArrayField(models.BigIntegerField(), default=list)
    stock = models.PositiveIntegerField(null=True)  # how many may be sold in all
    ends_at = models.DateTimeField(null=True)
    success_url = models.CharField(max_length=2048, null=True)
    email = models.CharField(max_length=8, choices=Ask.choices, default=Ask.NO)
    name = models.CharField(max_length=8, choices=Ask.choices, default=Ask.NO)
    paused_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    amount_cents__gt=0, min_cents=None, max_cents=None, suggested_cents=[]
                )
                | models.Q(
                    amount_cents=None, min_cents__gt=0, max_cents__gte=models.F("min_cents")
                ),
                name="payment_link_has_a_price",
            ),
            models.CheckConstraint(condition=~models.Q(title=""), name="payment_link_has_a_title"),
            models.CheckConstraint(
                condition=models.Q(
                    email__in=["no", "optional", "required"],
                    name__in=["no", "optional", "required"],
                ),
                name="payment_link_asks_are_known",
            ),
            once_per_form("payment_link"),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="payment_link_newest"),
            models.Index(fields=["store", "mode", "title"], name="payment_link_by_title"),
        ]


class LinkPayment(models.Model):
    """A payment made at a link, with what the customer said of themselves. One that isn't released
    holds a piece of the stock."""

    link = models.ForeignKey(
        PaymentLink, on_delete=models.PROTECT, related_name="payments", db_index=False
    )
    payment = models.OneToOneField(Payment, on_delete=models.PROTECT, related_name="+")
    customer_email = models.CharField(max_length=254, blank=True, default="")
    customer_name = models.CharField(max_length=255, blank=True, default="")
    created_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["link", "-created_at"], name="link_payment_newest"),
            models.Index(
                fields=["link"], condition=models.Q(released_at=None), name="link_payment_holds"
            ),
            models.Index(
                Lower("customer_email"),
                condition=~models.Q(customer_email=""),
                name="link_payment_by_folded",
            ),
        ]


class Till(models.Model):
    """A store's settings for payments in person. A store without a row has the defaults.

    `vat_bps` are the rates that a typed amount can have, the usual one first; `names` are those of
    the store's devices, so that each has a total of its own.
    """

    id = IdField()
    store = models.OneToOneField("stores.Store", on_delete=models.PROTECT, related_name="+")
    currency = models.CharField(max_length=3, choices=Currency.choices)
    # none: tips aren't offered.
    tip_bps = ArrayField(models.PositiveSmallIntegerField(), default=list)
    vat_bps = ArrayField(models.PositiveSmallIntegerField(), default=list, db_default=[])
    names = ArrayField(models.CharField(max_length=40), default=list, db_default=[])
    updated_at = models.DateTimeField()


class TillItem(models.Model):
    """Something that is sold at the till, in both modes. Its price includes the VAT."""

    id = IdField()
    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    name = models.CharField(max_length=100)
    price_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3, choices=Currency.choices)
    vat_bps = models.PositiveSmallIntegerField(null=True)  # none: nothing is said about VAT
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(price_cents__gt=0), name="till_item_has_a_price"
            ),
            models.CheckConstraint(condition=~models.Q(name=""), name="till_item_has_a_name"),
        ]
        indexes = [models.Index(fields=["store", "name"], name="till_item_by_name")]


class Sale(RowWithFormKey):
    """Something sold in person: its lines, the tip that the customer adds, and the payment made of
    both, once.

    `form_key` comes from the device, so a sale that is sent again is the same one. `tip_cents` is
    null until the customer was asked; a sale has its payment from then on. A canceled sale has
    either no payment, or one that was canceled too.
    """

    token = models.CharField(max_length=22, unique=True, db_collation="C")  # of the public page
    till_name = models.CharField(max_length=40, default="", blank=True)
    currency = models.CharField(max_length=3, choices=Currency.choices)
    # Each with description, quantity, unit_amount_cents and vat_bps.
    lines = models.JSONField(default=list)
    amount_cents = models.BigIntegerField()  # of the lines; 0 where it was canceled before it came
    note = models.CharField(max_length=150, default="", blank=True)
    offered_bps = ArrayField(models.PositiveSmallIntegerField(), default=list)
    tip_cents = models.BigIntegerField(null=True)
    payment = models.OneToOneField(Payment, on_delete=models.PROTECT, related_name="+", null=True)
    canceled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(payment=None) | models.Q(tip_cents__gte=0, amount_cents__gt=0),
                name="sale_with_payment_is_whole",
            ),
            once_per_form("sale"),
        ]
        indexes = [models.Index(fields=["store", "mode", "-created_at"], name="sale_newest")]
