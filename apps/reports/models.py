"""Reports: a file about a closed range of days, asked for by request and made by a job.

One record per store, mode, type, range, currency, format and zone; asking again finds it.
"""

from django.db import models
from django.utils.translation import gettext_noop

from apps.core.models import AtomicField, OptionalAtomicField, Owned
from apps.reports import states


class Report(Owned):
    """`currency` and `file_name` are empty rather than null. `touched_at` and `claimed_until` are
    machine time, all else store time."""

    class Type(models.TextChoices):
        ACCOUNTING_TRANSACTIONS = "accounting_transactions", gettext_noop("Accounting transactions")
        MERCHANT_STATEMENT = "merchant_statement", gettext_noop("Merchant statement")
        TAX_REPORT = "tax_report", gettext_noop("Tax report")

    class Format(models.TextChoices):
        PDF = "pdf", "PDF"
        CSV = "csv", gettext_noop("CSV (comma, decimal point)")
        CSV_SEMICOLON = "csv_semicolon", gettext_noop("CSV (semicolon, decimal comma)")
        CSV_TAB = "csv_tab", gettext_noop("CSV (tab, decimal point)")
        BEANCOUNT = "beancount", "Beancount"
        HLEDGER = "hledger", "hledger"
        LEDGER = "ledger", "Ledger"
        DATEV = "datev", gettext_noop("DATEV (EXTF Buchungsstapel)")
        XERO = "xero", gettext_noop("Xero (bank statement CSV)")
        QUICKBOOKS = "quickbooks", gettext_noop("QuickBooks (bank CSV)")
        OFX = "ofx", "OFX"
        CAMT053 = "camt053", "camt.053"

    class Status(models.TextChoices):
        PENDING = states.PENDING
        GENERATED = states.GENERATED
        FAILED = states.FAILED

    report_type = models.CharField(max_length=30, choices=Type.choices)
    period_from = models.DateField()
    period_to = models.DateField()
    currency = models.CharField(max_length=3, blank=True, default="")
    format = models.CharField(max_length=20, choices=Format.choices, default=Format.PDF)
    # Whose days they are; empty: UTC.
    time_zone = models.CharField(max_length=64, default="", db_default="", blank=True)
    # One of days that weren't over is of entries before `until`, and made anew each time.
    is_so_far = models.BooleanField(default=False, db_default=False)
    until = models.DateTimeField(null=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    error = models.CharField(max_length=200, blank=True, default="")
    attempts = models.PositiveSmallIntegerField(default=0)
    touched_at = models.DateTimeField()
    claimed_until = models.DateTimeField(null=True)
    lines_total = models.PositiveIntegerField(null=True)
    lines_done = models.PositiveIntegerField(default=0)
    generated_at = models.DateTimeField(null=True)
    file_name = models.CharField(max_length=200, blank=True, default="")
    size_bytes = models.PositiveBigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "store",
                    "mode",
                    "report_type",
                    "period_from",
                    "period_to",
                    "currency",
                    "format",
                    "time_zone",
                    "is_so_far",
                ],
                name="report_once_in_zone",
            ),
            models.CheckConstraint(
                condition=models.Q(period_to__gte=models.F("period_from")),
                name="report_period_is_a_range",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=list(states.MACHINE.moves)),
                name="report_status_is_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(status=states.GENERATED)
                | (models.Q(generated_at__isnull=False) & ~models.Q(file_name="")),
                name="report_generated_has_a_file",
            ),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="report_newest"),
            models.Index(
                fields=["touched_at"],
                condition=models.Q(status=states.PENDING),
                name="report_pending",
            ),
        ]


class AccountCodes(models.Model):
    """The accounts of a store's own bookkeeping that lines of its statements are posted to, by kind
    of line."""

    store = models.OneToOneField(
        "stores.Store", primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    codes = models.JSONField(default=dict)

    def __str__(self) -> str:
        return str(self.store_id)


class HourlyBooking(models.Model):
    """Sums of a store's account over an hour or a day (UTC), by the kind of movement and the
    currency of the payments that they serve; empty for none. Of the entries up to the account's
    place (apps.reports.hourly_bookings).

    Cents are what the entries, and the fees taken with them, were worth, each rounded by itself;
    `unvalued` is how many have no known rate. The entries of an hour are between the first and
    the last, beside those of other hours.
    """

    account = models.ForeignKey(
        "ledger.Account", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    is_day = models.BooleanField()
    hour = models.DateTimeField()  # or the first of the day
    kind = models.CharField(max_length=40)
    currency = models.CharField(max_length=3, blank=True)
    entries = models.PositiveIntegerField()
    in_atomic = AtomicField()
    out_atomic = AtomicField()
    fee_atomic = AtomicField()
    cents = AtomicField()
    fee_cents = AtomicField()
    unvalued = models.PositiveIntegerField()
    # In the books' currency, that of the place; null: summed by a process of before.
    book_cents = OptionalAtomicField(null=True)
    book_fee_cents = OptionalAtomicField(null=True)
    book_unvalued = models.PositiveIntegerField(null=True)
    first_id = models.BigIntegerField()
    last_id = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "is_day", "hour", "kind", "currency"],
                include=[
                    "entries",
                    "in_atomic",
                    "out_atomic",
                    "fee_atomic",
                    "cents",
                    "fee_cents",
                    "unvalued",
                    "first_id",
                    "last_id",
                ],
                name="hourly_booking_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.account_id}, {self.hour}"


class HourlyBookingPlace(models.Model):
    """Up to which entry of an account its hourly sums go, 0 before the first, and the books'
    currency: in which what belongs to no payment, and `book_cents` of all, was valued."""

    account = models.OneToOneField(
        "ledger.Account", primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    newest_id = models.BigIntegerField(default=0)
    currency = models.CharField(max_length=3, blank=True, default="")

    def __str__(self) -> str:
        return str(self.account_id)
