"""Rates of tax, and what a store has said about its taxes.

A rate's figures never change: another figure is another rate. The category is the standard's
(EN 16931, UNTDID 5305), and the database refuses a figure or a reason that doesn't go with it.
"""

from enum import StrEnum

from django.db import models

from apps.core import crypto
from apps.core.models import Owned, RowWithFormKey, once_per_form
from apps.core.money import BASIS_POINTS


class TaxCategory(models.TextChoices):
    STANDARD = "S", "Taxed"
    ZERO = "Z", "Zero-rated"
    EXEMPT = "E", "Exempt"
    REVERSE_CHARGE = "AE", "Reverse charge"
    INTRA_COMMUNITY = "K", "Goods to another EU country"
    EXPORT = "G", "Export"
    OUT_OF_SCOPE = "O", "Not subject to VAT"
    CANARY_ISLANDS = "L", "Canary Islands (IGIC)"
    CEUTA_MELILLA = "M", "Ceuta and Melilla (IPSI)"


# Whose rate is zero.
UNTAXED = ("Z", "E", "AE", "K", "G", "O")
# Whose reason has to be on the invoice; the others mustn't have one.
WITH_REASON = ("E", "AE", "K", "G", "O")


class SupplyType(models.TextChoices):
    """The thing sold, as far as tax depends on it."""

    GOODS = "goods"
    SERVICE = "service"
    DIGITAL = "digital"


class TaxCase(StrEnum):
    """The usual cases of a sale (`apps.billing.taxes.cases`)."""

    DOMESTIC = "domestic"
    REVERSE_CHARGE = "reverse_charge"
    INTRA_COMMUNITY = "intra_community"
    EU_CONSUMER = "eu_consumer"
    EXPORT = "export"
    OUTSIDE = "outside"
    SMALL_BUSINESS = "small_business"
    EXEMPT = "exempt"
    MIXED = "mixed"


def percent_of(rate_bps: int) -> str:
    """1950 basis points are 19.5."""
    return f"{rate_bps // 100}.{rate_bps % 100:02d}".rstrip("0").rstrip(".")


def rate_goes_with_category(category: str, rate_bps: str) -> models.Q:
    """The condition of both columns: one of nothing charged is zero, S is more than zero."""
    untaxed = models.Q(**{f"{category}__in": UNTAXED, rate_bps: 0})
    taxed = models.Q(**{category: "S", f"{rate_bps}__gt": 0, f"{rate_bps}__lte": BASIS_POINTS})
    islands = models.Q(**{f"{category}__in": ("L", "M"), f"{rate_bps}__lte": BASIS_POINTS})
    return untaxed | taxed | islands


def reason_goes_with_category(category: str) -> models.Q:
    """The condition of `reason` and `reason_code`: there where one is wanted, and nowhere else."""
    wanted = models.Q(**{f"{category}__in": WITH_REASON})
    return (wanted & ~models.Q(reason="", reason_code="")) | (
        ~wanted & models.Q(reason="", reason_code="")
    )


class TaxRate(RowWithFormKey):
    """A rate of a store. Only `name` and `active` ever change."""

    name = models.CharField(max_length=100)
    category = models.CharField(max_length=2, choices=TaxCategory.choices)
    rate_bps = models.PositiveIntegerField()
    # The prices that it is charged on hold it already.
    inclusive = models.BooleanField(default=False)
    reason = models.CharField(max_length=300, default="", blank=True)
    reason_code = models.CharField(max_length=30, default="", blank=True)
    active = models.BooleanField(default=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=rate_goes_with_category("category", "rate_bps"),
                name="tax_rate_goes_with_category",
            ),
            models.CheckConstraint(
                condition=reason_goes_with_category("category"), name="tax_rate_reason"
            ),
            # Nothing is included where nothing is charged.
            models.CheckConstraint(
                condition=models.Q(inclusive=False) | models.Q(rate_bps__gt=0),
                name="tax_rate_includes_something",
            ),
            once_per_form("tax_rate"),
        ]
        indexes = [models.Index(fields=["store", "mode", "-created_at"], name="tax_rate_newest")]

    def __str__(self) -> str:
        return self.name

    @property
    def percent(self) -> str:
        return percent_of(self.rate_bps)


def rate_column() -> "models.ForeignKey[TaxRate | None, TaxRate | None]":
    """The rate that is on a record itself; null: the next one of the order counts (see
    docs/guide/invoicing.md). Nobody looks for records by it."""
    return models.ForeignKey(
        TaxRate, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )


class TaxSettings(Owned):
    """Tax settings of a store in a mode; a store without the row charges what its invoices name."""

    # Of lines that nothing else gives a rate.
    tax_rate = models.ForeignKey(
        TaxRate, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # The usual case is chosen from seller, buyer and what is sold.
    is_automatic = models.BooleanField(default=False)
    # It charges nobody tax, by the rules for small businesses.
    is_small_business = models.BooleanField(default=False)
    # Consumers in other EU countries are charged the rate of theirs (One Stop Shop).
    charges_abroad = models.BooleanField(default=False)
    supply_type = models.CharField(
        max_length=7, choices=SupplyType.choices, default=SupplyType.SERVICE
    )
    # With which the seller is in Poland's KSeF.
    sealed_ksef_token = models.TextField(default="", blank=True, db_default="")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["store", "mode"], name="tax_settings_once")]

    @property
    def ksef_place(self) -> str:
        return f"billing_taxsettings:{self.store_id}:{self.mode}:sealed_ksef_token"

    @property
    def ksef_token(self) -> str:
        """Empty without one."""
        sealed = self.sealed_ksef_token
        return crypto.decrypt(sealed, self.ksef_place) if sealed else ""


class VatCheck(Owned):
    """A question to a registry of VAT numbers and its answer, which are kept: they are the proof
    that a buyer was who they said. `created_at` is when it was asked."""

    class Result(models.TextChoices):
        VALID = "valid"
        INVALID = "invalid"
        UNAVAILABLE = "unavailable", "No answer"

    customer = models.ForeignKey(
        "billing.Customer", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    number = models.CharField(max_length=20)
    # The seller's own, with which it was asked.
    requester_number = models.CharField(max_length=20, default="", blank=True)
    result = models.CharField(max_length=11, choices=Result.choices)
    # Of the registry: what it knows of the number, and the code that proves the answer.
    name = models.CharField(max_length=300, default="", blank=True)
    address = models.CharField(max_length=500, default="", blank=True)
    consultation_number = models.CharField(max_length=50, default="", blank=True)
    answer = models.JSONField(default=dict)
    error = models.CharField(max_length=100, default="", blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["customer", "-created_at", "-id"], name="vat_check_newest"),
        ]
