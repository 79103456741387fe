"""A line of the route table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.access.access import PUBLISHABLE
from apps.core.errors import Failure

PUBLIC = "public"
FORM = "application/x-www-form-urlencoded"
# What a bucket is counted by. REFERENCE is the path's `reference` or `token`, ADDRESS the client's.
STORE = "store"
CREDENTIAL = "credential"
ADDRESS = "address"
REFERENCE = "reference"


@dataclass(frozen=True)
class Budget:
    """A token from the bucket of one row of settings.LIMITS, counted by all of `by` together.

    A public path has no store or credential: it counts by ADDRESS, REFERENCE or both. With `kinds`
    only those credentials take from it, and before they take from the others. Within a store each
    kind of credential has a bucket of its own.
    """

    policy: str
    by: tuple[str, ...] = (STORE,)
    kinds: tuple[str, ...] = ()


# Every page and path behind a public link: per link, and a far higher ceiling per address.
PUBLIC_LINK = (Budget("checkout", (REFERENCE,)), Budget("checkout_address", (ADDRESS,)))
ONRAMP_METHODS = (
    Budget("onramp_methods", (REFERENCE, ADDRESS)),
    Budget("onramp_methods_reference", (REFERENCE,)),
)
ONRAMP_SESSIONS = (
    Budget("onramp_sessions", (REFERENCE, ADDRESS)),
    Budget("onramp_sessions_reference", (REFERENCE,)),
)
# A publishable key is in the source of a page: each visitor has a budget, behind it is the
# shop's.
PAYMENT_CREATE = (
    Budget("payment_create"),
    Budget("publishable_address", (STORE, ADDRESS), kinds=(PUBLISHABLE,)),
)
PAYOUTS = (Budget("payouts"),)
REFUNDS = (Budget("refunds"),)
SWAPS = (Budget("swaps"),)
TEST_CLOCK = (Budget("test_clock"),)
PDF = (Budget("pdf", (STORE, CREDENTIAL)),)
AGENTIC = (Budget("agentic", (CREDENTIAL,)),)
# What every read with a credential takes from that has no line of its own: so many that nobody who
# follows their payments meets it, and no more than leaves the database to the others.
READS = (Budget("reads", (STORE, CREDENTIAL)),)
# What every write takes from that has no line of its own. Nobody has shown a credential on a public
# path, where it is the client's address that counts.
WRITES = (Budget("writes"),)
PUBLIC_WRITES = (Budget("public_writes", (ADDRESS,)),)
MARKET_DATA = (Budget("market_data", (ADDRESS,)),)


@dataclass(frozen=True)
class Route:
    """One line of the route table.

    `scopes` has each method's scope (None: any credential but a publishable key; PUBLIC: no
    credential). `budget` has the buckets a method takes from, in order: one that is empty refuses,
    and those after it aren't touched; the headers carry the name of the first that is every
    credential's. A method without a line takes from READS, WRITES or PUBLIC_WRITES, a public GET
    from none. `publishable` has the methods a publishable key may call, `keys` which take an
    Idempotency-Key ("required" or "optional"), `cors` the methods that answer any origin.
    `closed_to_platforms` has what a platform that acts for a sub-merchant gets, by method.
    """

    path: str
    view: type[Any]
    scopes: Mapping[str, str | None]
    budget: Mapping[str, tuple[Budget, ...]] = field(default_factory=dict)
    publishable: frozenset[str] = frozenset()
    keys: Mapping[str, str] = field(default_factory=dict)
    cors: frozenset[str] = frozenset()
    closed_to_platforms: Mapping[str, type[Failure]] = field(default_factory=dict)

    def budgets(self, method: str) -> tuple[Budget, ...]:
        """The buckets that a method takes from."""
        is_public = self.scopes.get(method, PUBLIC) == PUBLIC
        if method == "GET":
            default = () if is_public else READS
        else:
            default = PUBLIC_WRITES if is_public else WRITES
        return self.budget.get(method, default)
