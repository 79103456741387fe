"""The double-entry ledger: signed entries (credit positive, debit negative) that sum to zero per
asset in every movement.

PostgreSQL enforces it (functions and triggers of migrations/0001): append-only, balanced, one mode,
guarded balances never below zero.
"""

from django.db import models

from apps.core.models import AtomicField, Mode
from apps.core.text.words import code_words
from apps.ledger import chart
from apps.stores.models.person_fields import optional_person


class Account(models.Model):
    """An account: one per owner, mode, asset and kind. The checkpoint is the sum of the entries
    up to `checkpoint_id` (a column of the SQL)."""

    # Which the unique rule begins with.
    store = models.ForeignKey(
        "stores.Store", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4, choices=Mode.choices)
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=20, choices=[(kind, kind) for kind in chart.CHART])
    is_guarded = models.BooleanField()
    checkpoint_atomic = AtomicField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store", "mode", "asset", "kind"], name="account_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=chart.STORE_KINDS, store__isnull=False)
                | (
                    models.Q(
                        store__isnull=True,
                        kind__in=[kind for kind in chart.CHART if kind not in chart.STORE_KINDS],
                    )
                ),
                name="account_owner_fits_kind",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=chart.STORE_KINDS, is_guarded=True)
                | (models.Q(is_guarded=False) & ~models.Q(kind__in=chart.STORE_KINDS)),
                name="account_guard_fits_kind",
            ),
            models.CheckConstraint(
                condition=models.Q(mode__in=Mode.values), name="account_mode_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{code_words(self.kind)}, {self.asset_id}, {self.mode}"

    @property
    def full_name(self) -> str:
        """`Held of Demo Coffee, ETH on Ethereum, Live`: the service's own have no owner."""
        owner = f" of {self.store.name}" if self.store else ""
        return f"{code_words(self.kind)}{owner}, {self.asset.full_name}, {Mode(self.mode).label}"


class Movement(models.Model):
    """Something that happened to money. `reference` is the record it serves; `key` makes it happen
    once."""

    key = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    mode = models.CharField(max_length=4, choices=Mode.choices)
    reference = models.UUIDField(null=True)
    reason = models.TextField(blank=True, default="")
    staff_user = optional_person()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            # A constraint and not `unique=True`, which on a text column costs every posting a
            # second index.
            models.UniqueConstraint(fields=["key"], name="movement_key_once"),
            models.CheckConstraint(
                condition=models.Q(mode__in=Mode.values), name="movement_mode_is_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="correction")
                | (models.Q(staff_user__isnull=False) & ~models.Q(reason="")),
                name="movement_correction_is_signed",
            ),
        ]
        indexes = [
            models.Index(
                fields=["reference"],
                condition=models.Q(reference__isnull=False),
                name="movement_reference",
            ),
            models.Index(
                fields=["key"],
                condition=models.Q(kind="own_deposit_reversed"),
                name="movement_own_reversed",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class BalanceMark(models.Model):
    """Balance of an account after one of its entries and all before it
    (apps.ledger.balance_marks)."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    entry_id = models.BigIntegerField()
    balance_atomic = AtomicField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "entry_id"],
                include=["balance_atomic"],
                name="balance_mark_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.account_id}, {self.entry_id}"


class Entry(models.Model):
    """A leg of a movement."""

    # No constraints of their own: the check of every entry refuses one without its movement or
    # account, or in another asset than its account's, and neither movements nor accounts are ever
    # deleted.
    movement = models.ForeignKey(
        Movement, on_delete=models.PROTECT, related_name="entries", db_constraint=False
    )
    account = models.ForeignKey(
        Account,
        on_delete=models.PROTECT,
        related_name="entries",
        db_index=False,
        db_constraint=False,
    )
    asset = models.ForeignKey(
        "assets.Asset",
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    amount_atomic = AtomicField()
    role = models.CharField(max_length=12, choices=[(role, role) for role in chart.ROLES])

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(amount_atomic=0), name="entry_is_not_zero"),
            models.CheckConstraint(
                condition=models.Q(role__in=chart.ROLES), name="entry_role_is_known"
            ),
        ]
