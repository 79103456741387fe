"""Reads variables of the environment by name, and remembers which it was asked for and which it
couldn't read.

What can't be read gets its default, so that everything that is wrong is reported at once
(config/refusals.py).
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

# Read elsewhere than in config/environment.py, or by compose.yaml alone.
OTHERS = frozenset(
    {"SIGNER_PASSPHRASE", "PKCS11_PIN", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    | {"POOLER_POOL_SIZE", "POOLER_CLIENTS_MAX"}
    | {
        f"POSTGRES_{name}"
        for name in (
            "MAX_CONNECTIONS",
            "SHARED_BUFFERS",
            "EFFECTIVE_CACHE_SIZE",
            "WORK_MEM",
            "MAINTENANCE_WORK_MEM",
            "MAX_WAL_SIZE",
            "RANDOM_PAGE_COST",
        )
    }
    | {
        f"TILLGATE_{name}"
        for name in (
            "AGENT_CREDENTIAL",
            "ANVIL",
            "FAILPOINT",
            "HANDED_OVER",
            "LOCAL_CHAINS",
            "WITHOUT",
        )
    }
)
# What begins so is meant for us.
PREFIXES = (
    *(
        "APPROVAL_",
        "CARD_",
        "CHAIN_",
        "COINBASE_",
        "COINGECKO_",
        "COLD_",
        "DEPOSIT_",
        "EMAIL_",
        "ENCRYPTION_",
        "KRAKEN_",
    ),
    *(
        "METRICS_",
        "OFFRAMP_",
        "ONRAMPER_",
        "PAYOUT_",
        "PKCS11_",
        "RATE_",
        "ROW_",
        "S3_",
        "SIGNER_",
        "SWAP_",
    ),
    "STAFF_",
    "SWEEP_",
    "TILLGATE_",
    "TRUSTED_PROXY_",
    "WEBHOOK_",
    "WITHDRAWAL_",
    "X402_",
)
# What Kubernetes puts into every container for each service that it knows.
_OF_THE_CLUSTER = re.compile(r"_SERVICE_(HOST|PORT)(_|$)|_PORT_[0-9]+_|_PORT$")
_LIKENESS = 0.86


class Reader(environ.Env):  # type: ignore[misc]  # environ has no types
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.unreadable: list[str] = []

    def get_value(
        self,
        var: str,
        cast: Any = None,
        default: Any = environ.Env.NOTSET,
        parse_default: bool = False,
    ) -> Any:
        self.names.add(var)
        try:
            return super().get_value(var, cast, default, parse_default)
        except (ValueError, ImproperlyConfigured):
            self.unreadable.append(f"{var} can't be read")
            return None if default is self.NOTSET else default


def unknown(variables: Mapping[str, str], names: Iterable[str]) -> Iterable[str]:
    """Variables that look as if they were meant for us, each with the name that was probably
    meant."""
    names = {*names, *OTHERS}
    ignored = {text.strip() for text in variables.get("IGNORED_VARIABLES", "").split(",")}
    for name in sorted(set(variables) - names - ignored):
        if _OF_THE_CLUSTER.search(name):
            continue
        near = difflib.get_close_matches(name.upper(), sorted(names), 1, _LIKENESS)
        if near or name.upper().startswith(PREFIXES):
            near = near or difflib.get_close_matches(name.upper(), sorted(names), 1, 0.6)
            yield f"{name} is no variable of Tillgate" + (
                f" (did you mean {near[0]}?)" if near else ""
            )
