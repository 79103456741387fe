"""Chains and assets as data, which of them a store accepts, and the latest rate of each asset in
each currency."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from apps.core.local_chain import LOCAL_CHAIN_IDS
from apps.core.models import AtomicField, Mode, OptionalAtomicField, Owned
from apps.core.money import AssetId, Unit
from apps.core.text.wording import Worded


class NetworkFamily(models.TextChoices):
    """Families that have a module in apps/chain/networks."""

    EVM = "evm", "EVM"
    BITCOIN = "bitcoin", "Bitcoin"


class FeeModel(models.TextChoices):
    """Ways in which a network takes its fees (apps/chain/networks/catalog.py)."""

    PLAIN = "plain", "In its own coin"
    OP_STACK = "op_stack", "In its own coin, with a share of Ethereum's fees"
    ARBITRUM = "arbitrum", "In its own coin, a share of Ethereum's fees included"
    STABLECOIN = "stablecoin", "In a stablecoin"
    BYTES = "bytes", "By size"


class Chain(models.Model):
    """A network. `id` is its network name; blocks are counted against `required_confirmations`,
    which are never fewer than `confirmations_floor`. The database refuses to lower that.

    With a `finality_tag`, a block counts when the network's nodes call it so: by that alone, or
    with its confirmations as well where it `counts_confirmations`. While no node tells the tag,
    `tag_confirmations` replace it, beside the required ones.

    `block_milliseconds` is the usual time between two blocks, 0 where nobody knows it;
    `wallet_url` a public node for wallets that don't have the network yet; `fee_symbol` the coin of
    its fees.
    """

    id = models.CharField(primary_key=True, max_length=20)
    name = models.CharField(max_length=50)
    symbol = models.CharField(max_length=10)
    family = models.CharField(
        max_length=10, choices=NetworkFamily.choices, default=NetworkFamily.EVM, db_default="evm"
    )
    chain_id = models.PositiveBigIntegerField(unique=True)
    mode = models.CharField(max_length=4, choices=Mode.choices)
    required_confirmations = models.PositiveIntegerField()
    confirmations_floor = models.PositiveIntegerField(default=1, db_default=1)
    finality_tag = models.CharField(max_length=9, blank=True, default="", db_default="")
    counts_confirmations = models.BooleanField(default=True, db_default=True)
    tag_confirmations = models.PositiveIntegerField(default=0, db_default=0)
    explorer_url = models.URLField(max_length=200, blank=True)
    block_milliseconds = models.PositiveIntegerField(default=0, db_default=0)
    wallet_url = models.URLField(max_length=200, blank=True, default="", db_default="")
    fee_symbol = models.CharField(max_length=10, blank=True, default="", db_default="")
    fee_model = models.CharField(
        max_length=10, choices=FeeModel.choices, default=FeeModel.PLAIN, db_default="plain"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    required_confirmations__gte=models.F("confirmations_floor"),
                    confirmations_floor__gte=1,
                ),
                name="chain_confirms_enough",
            ),
            models.CheckConstraint(
                condition=models.Q(finality_tag="", counts_confirmations=True)
                | models.Q(finality_tag__in=["safe", "finalized"], tag_confirmations__gte=1),
                name="chain_has_a_rule_of_finality",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_local(self) -> bool:
        """On one machine only: anyone who sends real coins to an address of it has lost them."""
        return self.chain_id in LOCAL_CHAIN_IDS


class TokenStandard(models.TextChoices):
    NATIVE = "Native", "Native"
    ERC20 = "ERC20", "ERC-20"


# Of an asset, how it is swept: the columns, the least and the most of each, and who types another
# number is told so.
SWEEP_BOUNDS = {
    "sweep_minimum_atomic": (1, 10**60 - 1, "The minimum sweep must be above zero"),
    "sweep_cost_bps": (1, 10_000, "A sweep may cost above 0 and up to 100 percent"),
    "sweep_after_days": (1, 3_650, "The days must be from 1 to 3650"),
}


def _bounds(column: str) -> list[Callable[[Any], None]]:
    least, most, text = SWEEP_BOUNDS[column]
    return [MinValueValidator(least, text), MaxValueValidator(most, text)]


class Asset(models.Model):
    """A coin on a chain. A native coin has no contract; a token's `contract_address` is lower-case
    hex.

    What is active but not listed is in no catalog and no customer pays with it: it is swapped into
    and paid out again.

    Deposits of it are swept from `sweep_minimum_atomic` on, or less of it after `sweep_after_days`,
    when that costs at most `sweep_cost_bps` of them. Where the first or the last is null the
    settings say it; without days less than the minimum waits.
    """

    id = models.CharField(primary_key=True, max_length=20)
    chain = models.ForeignKey(Chain, on_delete=models.PROTECT, related_name="assets")
    coin_symbol = models.CharField(max_length=10)
    name = models.CharField(max_length=50)
    token_standard = models.CharField(max_length=6, choices=TokenStandard.choices)
    contract_address = models.CharField(max_length=42, null=True, blank=True, db_collation="C")
    atomic_decimals = models.PositiveSmallIntegerField()
    display_decimals = models.PositiveSmallIntegerField()
    min_withdrawal_atomic = AtomicField(default=1)
    is_fiat_eligible = models.BooleanField(default=False)
    is_active = models.BooleanField(default=False)
    is_listed = models.BooleanField(default=True)
    eip712_name = models.CharField(max_length=50, blank=True)
    eip712_version = models.CharField(max_length=10, blank=True)
    position = models.PositiveSmallIntegerField(default=0)
    # The coin in which its network takes fees: the own one where it has one.
    pays_fees = models.BooleanField(default=False, db_default=False)
    sweep_minimum_atomic = OptionalAtomicField(
        null=True, blank=True, validators=_bounds("sweep_minimum_atomic")
    )
    sweep_cost_bps = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=_bounds("sweep_cost_bps")
    )
    sweep_after_days = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=_bounds("sweep_after_days")
    )
    # Since then its token moves for nobody, or for none of our wallets: no payment asks for it.
    stopped_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "contract_address"],
                condition=models.Q(contract_address__isnull=False),
                name="asset_contract_unique",
            ),
            models.UniqueConstraint(
                fields=["chain"],
                condition=models.Q(pays_fees=True),
                name="asset_pays_fees_alone",
            ),
            # No process can read an asset that has more, or NaN, which is above every number.
            models.CheckConstraint(
                condition=models.Q(min_withdrawal_atomic__gte=0, min_withdrawal_atomic__lt=10**60),
                name="asset_minimum_is_a_number",
            ),
            models.CheckConstraint(
                condition=(
                    models.Q(sweep_minimum_atomic=None)
                    | models.Q(sweep_minimum_atomic__gte=1, sweep_minimum_atomic__lt=10**60)
                )
                & (
                    models.Q(sweep_cost_bps=None)
                    | models.Q(sweep_cost_bps__gte=1, sweep_cost_bps__lte=10_000)
                )
                & (
                    models.Q(sweep_after_days=None)
                    | models.Q(sweep_after_days__gte=1, sweep_after_days__lte=3_650)
                ),
                name="asset_sweeps_are_bounded",
            ),
        ]

    @property
    def unit(self) -> Unit:
        return Unit(AssetId(self.pk), self.atomic_decimals)

    def __str__(self) -> str:
        return self.id

    @property
    def full_name(self) -> str:
        """`USDC on Polygon`: several chains have coins of one symbol."""
        return Worded("{coin} on {network}", coin=self.coin_symbol, network=self.chain.name)

    @property
    def mode(self) -> str:
        return self.chain.mode

    @property
    def is_native(self) -> bool:
        return self.token_standard == TokenStandard.NATIVE


class AcceptedAsset(Owned):
    """A store takes this asset; one that keeps to a currency's price only while it is worth its
    `lowest_price_bps` of that."""

    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="+")
    suspended_at = models.DateTimeField(null=True, blank=True)  # stopped for review by staff
    # Staff have looked and keep it stopped, and say why; null while the review waits for them.
    reviewed_at = models.DateTimeField(null=True, blank=True)
    review_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    review_ended_at = models.DateTimeField(null=True, blank=True)  # the last one; accepted again
    # The credited deposits that a reorganization took, for which it was stopped; empty otherwise.
    lost_deposit_ids = ArrayField(models.UUIDField(), blank=True, default=list, db_default=[])
    lowest_price_bps = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "mode", "asset"], name="accepted_asset_once"),
            models.CheckConstraint(
                condition=models.Q(lowest_price_bps__gte=5_000, lowest_price_bps__lte=10_000),
                name="accepted_asset_lowest_price",
            ),
        ]
        indexes = [
            models.Index(
                fields=["suspended_at"],
                condition=models.Q(suspended_at__isnull=False),
                name="accepted_asset_stopped",
            ),
            models.Index(
                fields=["review_ended_at"],
                condition=models.Q(review_ended_at__isnull=False),
                name="accepted_asset_review_ended",
            ),
        ]

    @property
    def status(self) -> str:
        """Of its review."""
        if self.suspended_at is None:
            return "accepted"
        return "pending" if self.reviewed_at is None else "stopped"


# Until when the rates of an embedded source hold.
FAR_FUTURE = datetime(9999, 1, 1, tzinfo=UTC)


class Rate(models.Model):
    """Price of one coin of an asset in a currency, from `source` at `as_of`. Past `valid_until` it
    prices nothing.

    In dollars the sources are compared: `is_agreed` says whether a second one said the same,
    `doubted_at` when one said something else, or a single one jumped, and no second has agreed
    since.
    """

    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="+", db_index=False)
    currency = models.CharField(max_length=3)
    rate = models.DecimalField(max_digits=38, decimal_places=18)
    source = models.CharField(max_length=20)
    as_of = models.DateTimeField()
    valid_until = models.DateTimeField()
    is_agreed = models.BooleanField(default=False, db_default=False)
    doubted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["asset", "currency"], name="rate_once_per_currency"),
            models.CheckConstraint(condition=models.Q(rate__gt=0), name="rate_is_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.asset_id} in {self.currency}"

    @property
    def full_name(self) -> str:
        return f"{self.asset.full_name} in {self.currency}"

    @property
    def is_always_current(self) -> bool:
        """True if it comes from a source that is embedded, and that no other confirms."""
        return self.valid_until >= FAR_FUTURE


class DailyRate(models.Model):
    """The first rate of an asset in a currency that a day (UTC) knew: what books are valued at.
    Append-only, in PostgreSQL too."""

    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="+", db_index=False)
    currency = models.CharField(max_length=3)
    day = models.DateField()
    rate = models.DecimalField(max_digits=38, decimal_places=18)
    source = models.CharField(max_length=20)
    as_of = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["asset", "currency", "day"], name="daily_rate_once"),
            models.CheckConstraint(condition=models.Q(rate__gt=0), name="daily_rate_is_positive"),
        ]
