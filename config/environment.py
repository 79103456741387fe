"""The environment's variables, read once, here alone. What production never starts with is in
config/refusals.py.

Nothing is started from here: services are only addresses.
"""

import base64
import ipaddress
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from apps.chain.networks import catalog
from apps.core.process import published_secrets
from config import databases, refusals
from config.reader import Reader

SIGNER_LANES_MAX = 16
PICTURE_BYTES_MAX = 32 * 1024
PICTURES = {".svg": "image/svg+xml", ".png": "image/png"}
_CHAIN_NAME = re.compile(r"[a-z][a-z0-9_]{0,19}")
_SHARD = re.compile(r"[0-9A-HJKMNP-TV-Z]{2}")
BASE_DIR = Path(__file__).resolve().parent.parent
env = Reader()

TILLGATE_ENV: str = env.str("TILLGATE_ENV", "demo")
if TILLGATE_ENV not in ("production", "demo", "test"):
    raise ImproperlyConfigured(
        f"TILLGATE_ENV must be production, demo or test, not {TILLGATE_ENV!r}"
    )
IS_PRODUCTION = TILLGATE_ENV == "production"


def secret(name: str) -> str:
    """A secret from the environment; outside production the published demo value is used."""
    value: str = env.str(name, "")
    return value or ("" if IS_PRODUCTION else published_secrets.PUBLISHED[name])


def host_from_env(name: str) -> str:
    """A host name without scheme and port, or nothing."""
    value: str = env.str(name, "").strip().lower()
    if value and urlsplit(f"//{value}").netloc != urlsplit(f"//{value}").hostname:
        env.unreadable.append(
            f"{name} must be a host name only, such as admin.example.com, not {value!r}"
        )
        return ""
    return value


def url_of(host: str) -> str:
    """The origin of a host of ours: scheme and port are those of PUBLIC_URL."""
    parts = urlsplit(PUBLIC_URL)
    return (
        f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")
        if host
        else PUBLIC_URL
    )


def networks_added_from_env(name: str) -> list[str]:
    """Names of networks that the catalog doesn't have."""
    names = [text.strip() for text in env.list(name, default=[])]
    if any(not _CHAIN_NAME.fullmatch(text) for text in names):
        env.unreadable.append(f"{name} can't be read")
        return []
    return [text for text in names if catalog.network_in_catalog(text) is None]


def networks_from_env(name: str) -> list[str]:
    """Addresses or networks, such as 10.0.0.0/8."""
    value: list[str] = env.list(name, default=[])
    try:
        return [str(_network(text.strip())) for text in value]
    except ValueError:
        env.unreadable.append(f"{name} needs networks such as 10.0.0.0/8, not {','.join(value)!r}")
        return []


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """A network of addresses as clients' are written: `::ffff:10.0.0.0/104` is 10.0.0.0/8."""
    network = ipaddress.ip_network(text)
    mapped = (
        network.network_address.ipv4_mapped
        if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= 96
        else None
    )
    return network if mapped is None else ipaddress.IPv4Network((mapped, network.prefixlen - 96))


def picture_from_env(name: str) -> str:
    """The address of a picture's bytes (`data:`), of the small file that the variable names."""
    value: str = env.str(name, "").strip()
    if not value:
        return ""
    kind = PICTURES.get(Path(value).suffix.lower())
    try:
        content = Path(value).read_bytes()
    except OSError:
        content = b""
    if kind is None or not 0 < len(content) <= PICTURE_BYTES_MAX:
        env.unreadable.append(
            f"{name} needs a readable file that ends in .svg or .png, up to 32 KiB, not {value!r}"
        )
        return ""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def pairs_from_env(name: str) -> dict[str, str]:
    """`name=value` several times, separated by commas."""
    entries: list[str] = env.list(name, default=[])
    if any("=" not in entry for entry in entries):
        env.unreadable.append(f"{name} needs pairs such as live=name, not {','.join(entries)!r}")
        return {}
    return {
        key.strip(): value.strip() for key, _, value in (entry.partition("=") for entry in entries)
    }


def counts_from_env(name: str, most: int, least: int = 1) -> dict[str, int]:
    """`name=number` several times, each number from `least` up to `most`."""
    counts = {}
    for key, text in pairs_from_env(name).items():
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            env.unreadable.append(f"{name} needs numbers from {least} to {most}, not {key}={text}")
            return {}
        counts[key] = int(text)
    return counts


def shard_from_env(name: str) -> str:
    """Two characters of Crockford's base32, or nothing."""
    value: str = env.str(name, "").strip()
    if value and not _SHARD.fullmatch(value):
        env.unreadable.append(
            f"{name} needs two characters of 0 to 9 and A to Z without I, L, O and U, not {value!r}"
        )
        return ""
    return value


def redis_from_env(name: str) -> str:
    """The address of Redis, or of the sentinels that know it."""
    url: str = env.str(name, "")
    if "sentinel://" not in url:
        return url
    from apps.core.redis import address as redis_address

    url = redis_address.canonical(url)
    try:
        redis_address.parse_sentinel(url)
    except ValueError as error:
        env.unreadable.append(str(error))
        return ""
    return url


SECRET_KEY = secret("SECRET_KEY")
ENCRYPTION_KEYS: list[str] = secret("ENCRYPTION_KEYS").split(",")
# Of workers and the signer alone: what asks for a transaction approves it, and the signer signs
# nothing else.
APPROVAL_KEYS: list[str] = [
    key for key in secret("APPROVAL_KEYS").split(",") if key not in ("", "none")
]
DEPOSIT_XPUBS = {"live": secret("DEPOSIT_XPUB_LIVE"), "test": secret("DEPOSIT_XPUB_TEST")}
# By coin and mode, of networks with coins; empty where a network isn't offered.
COIN_XPUBS: dict[str, dict[str, str]] = {
    coin: {
        mode: env.str(name := f"DEPOSIT_XPUB_{coin}_{mode}".upper(), "")
        or ("" if IS_PRODUCTION else published_secrets.COIN_XPUBS[name])
        for mode in ("live", "test")
    }
    for coin in ("bitcoin", "litecoin")
}
# What this server's keys, references, tokens and ids tell a router before several servers
# (apps/core/ids.py); empty: nothing.
SHARD: str = shard_from_env("SHARD")
PUBLIC_URL: str = (env.str("PUBLIC_URL", "") or "http://localhost:8000").rstrip("/")
DATABASE_URL: str = env.str("DATABASE_URL", "")
# Whether DATABASE_URL is a pooler that hands out a connection for a transaction; PostgreSQL itself,
# for what needs a connection for longer; and whether statements are prepared, which a pooler must
# know how to follow.
DATABASE_POOLER: bool = env.bool("DATABASE_POOLER", False)
DATABASE_DIRECT_URL: str = env.str("DATABASE_DIRECT_URL", "")
# The pooler's console, where the role of DATABASE_URL may read figures (apps/console/
# pooler_figures.py); empty: nobody asks.
DATABASE_POOLER_CONSOLE_URL = databases.console_of(
    databases.DatabaseAddress(DATABASE_URL, DATABASE_POOLER),
    may_read=env.bool("DATABASE_POOLER_CONSOLE", False),
)
DATABASE_URL, DATABASE_POOLER = databases.address_of(
    databases.DatabaseAddress(DATABASE_URL, DATABASE_POOLER), DATABASE_DIRECT_URL
)
DATABASE_PREPARED_STATEMENTS: bool = env.bool("DATABASE_PREPARED_STATEMENTS", not DATABASE_POOLER)
# A streaming replica for reads that may be behind (apps/core/db/replica.py), and how far behind it
# may be before the primary answers them.
DATABASE_REPLICA_URL: str = env.str("DATABASE_REPLICA_URL", "")
DATABASE_REPLICA_LAG_SECONDS: float = env.float("DATABASE_REPLICA_LAG_SECONDS", 10.0)
REDIS_URL: str = redis_from_env("REDIS_URL")
# Without a sign of the periodic jobs for so long, the watcher runs the vital ones itself.
# What beat, the watcher and the signer touch as long as their loop turns; none when empty.
ALIVE_FILE: str = env.str("ALIVE_FILE", "")
FALLBACK_AFTER_SECONDS: float = env.float("FALLBACK_AFTER_SECONDS", 30.0)
METRICS_TOKEN: str = secret("METRICS_TOKEN")
# Where workers, beat, the watcher and the signer are scraped; 0: nowhere. Web answers at /metrics.
METRICS_PORT: int = env.int("METRICS_PORT", 0)
METRICS_ADDRESS: str = env.str("METRICS_ADDRESS", "127.0.0.1")
ALLOWED_HOSTS: list[str] = env.list(
    "ALLOWED_HOSTS",
    default=[urlsplit(PUBLIC_URL).hostname, *(() if IS_PRODUCTION else ("localhost", "127.0.0.1"))],
)
PUBLIC_HOST: str = urlsplit(PUBLIC_URL).hostname or ""
# Hosts of their own for the API, the dashboard and the staff site; one without is where PUBLIC_URL
# is.
API_HOST: str = host_from_env("API_HOST")
DASHBOARD_HOST: str = host_from_env("DASHBOARD_HOST")
ADMIN_HOST: str = host_from_env("ADMIN_HOST")
API_URL = url_of(API_HOST)
DASHBOARD_URL = url_of(DASHBOARD_HOST)
ADMIN_URL = url_of(ADMIN_HOST)
OWN_HOSTS: list[str] = sorted({PUBLIC_HOST, API_HOST, DASHBOARD_HOST, ADMIN_HOST} - {""})
ALLOWED_HOSTS += [
    host for host in OWN_HOSTS if host not in ALLOWED_HOSTS and "*" not in ALLOWED_HOSTS
]
# The networks that the staff site may be asked for from; empty: from anywhere.
ADMIN_NETWORKS: list[str] = networks_from_env("ADMIN_NETWORKS")
# Who may create an account and open a store: anybody, whom the operator has invited, or nobody.
SIGN_UP: str = env.str("SIGN_UP", "invitation" if IS_PRODUCTION else "open")
# What the bare address says to strangers: the front page, or the sign-in.
FRONT_PAGE: bool = env.bool("FRONT_PAGE", True)
OPERATOR_NAME: str = env.str("OPERATOR_NAME", "")
OPERATOR_URL: str = env.str("OPERATOR_URL", "")
OPERATOR_LOGO: str = picture_from_env("OPERATOR_LOGO")
TRUSTED_PROXY_HOPS: int = env.int("TRUSTED_PROXY_HOPS", 0)
DNS_SERVERS: list[str] = env.list("DNS_SERVERS", default=[])
WEBHOOK_ALLOW_HOSTS: list[str] = env.list("WEBHOOK_ALLOW_HOSTS", default=[])
# The registry of VAT numbers that live mode asks.
VIES_URL = env.str("VIES_URL", default="https://ec.europa.eu/taxation_customs/vies/rest-api")
# Poland's system of e-invoices, for sellers who have a token of it; empty: none are sent.
KSEF_URL: str = env.str("KSEF_URL", "https://api.ksef.mf.gov.pl/v2")
# The rates in which Polish VAT in other currencies is stated there.
NBP_URL: str = env.str("NBP_URL", "https://api.nbp.pl/api")
# The Peppol access point (phoss-ap) that live e-invoices go through; empty: none are sent.
PEPPOL_ACCESS_POINT_URL: str = env.str("PEPPOL_ACCESS_POINT_URL", "")
PEPPOL_ACCESS_POINT_TOKEN: str = env.str("PEPPOL_ACCESS_POINT_TOKEN", "")
RATE_PROVIDERS: list[str] = env.list(
    "RATE_PROVIDERS", default=["coingecko", "kraken", "coinbase"] if IS_PRODUCTION else ["fixed"]
)
RATE_MAX_AGE_SECONDS: int = env.int("RATE_MAX_AGE_SECONDS", 300)
COINGECKO_API_KEY: str = env.str("COINGECKO_API_KEY", "")
COINGECKO_URL: str = env.str("COINGECKO_URL", "https://api.coingecko.com/api/v3")
COINBASE_URL: str = env.str("COINBASE_URL", "https://api.coinbase.com/v2")
ECB_URL: str = env.str("ECB_URL", "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml")
KRAKEN_URL: str = env.str("KRAKEN_URL", "https://api.kraken.com/0/public")
CHAIN_POLL_SECONDS: float = env.float("CHAIN_POLL_SECONDS", 4.0 if IS_PRODUCTION else 0.5)
# Networks that were added with add_network: what else begins with CHAIN_ is a typing error.
CHAIN_NETWORKS: list[str] = networks_added_from_env("CHAIN_NETWORKS")
CHAIN_URLS: dict[str, list[str]] = {
    chain: env.list(f"CHAIN_{chain.upper()}_URL", default=[])
    for chain in (*catalog.network_ids(), *CHAIN_NETWORKS)
}
# Where nodes announce new blocks by themselves, and what waits for one.
CHAIN_WS_URLS: dict[str, list[str]] = {
    chain: env.list(f"CHAIN_{chain.upper()}_WS_URL", default=[])
    for chain in (*catalog.network_ids("evm"), *CHAIN_NETWORKS)
}
# Where nodes of Bitcoin's family publish new blocks and transactions, over ZeroMQ.
CHAIN_ZMQ_URLS: dict[str, list[str]] = {
    chain: env.list(f"CHAIN_{chain.upper()}_ZMQ_URL", default=[])
    for chain in catalog.network_ids("bitcoin")
}
CHAIN_START_BLOCKS: dict[str, int] = {
    chain: env.int(f"CHAIN_START_BLOCK_{chain.upper()}")
    for chain in CHAIN_URLS
    if env.str(f"CHAIN_START_BLOCK_{chain.upper()}", "")
}
CHAIN_TIP_MAX_AGE_SECONDS: int = env.int("CHAIN_TIP_MAX_AGE_SECONDS", 600 if IS_PRODUCTION else 0)
# What contracts have paid is looked for once in so long; or in so many blocks, of any length.
CHAIN_BALANCE_CHECK_SECONDS: int = env.int("CHAIN_BALANCE_CHECK_SECONDS", 120)
CHAIN_BALANCE_CHECK_BLOCKS: int = env.int("CHAIN_BALANCE_CHECK_BLOCKS", 0)
# From so many coins on a deposit counts only once a second node has named its block.
SECOND_NODE_FROM: list[str] = env.list("SECOND_NODE_FROM", default=[])
# Chains whose transactions and receipts aren't compared with their headers.
CHAIN_UNCOMPARED_ROOTS: list[str] = env.list("CHAIN_UNCOMPARED_ROOTS", default=[])
# Without any chain only simulated coins come in, which is no way to run a service.
CHAINS_ARE_OPTIONAL = not IS_PRODUCTION
# A process of its own signs; tests that have none have the worker do it.
SIGNER_INLINE = TILLGATE_ENV == "test"
# Tests have no worker: there the caller does at once what a job would do, and nobody waits.
WORK_INLINE = TILLGATE_ENV == "test"
SIGNER_MAX_FEE_GWEI: int = env.int("SIGNER_MAX_FEE_GWEI", 300)
# The same of single networks, in gwei.
SIGNER_FEE_CEILINGS: list[str] = env.list("SIGNER_FEE_CEILINGS", default=catalog.fee_ceilings())
# What is offered beyond the base fee at least, in gwei, where a network takes nothing below it.
SIGNER_TIP_FLOORS: list[str] = env.list("SIGNER_TIP_FLOORS", default=catalog.tip_floors())
# How much above a node's estimate gas limits are, in percent, where what is estimated rises from
# block to block.
SIGNER_GAS_MARGINS: list[str] = env.list("SIGNER_GAS_MARGINS", default=catalog.gas_margins())
SIGNER_STUCK_SECONDS: int = env.int("SIGNER_STUCK_SECONDS", 180)
SIGNER_CAPS: list[str] = env.list("SIGNER_CAPS", default=catalog.caps())
# Of what came in for a store in 24 hours so much may leave in them, whatever its room is.
SIGNER_INFLOW_PERCENT: int = env.int("SIGNER_INFLOW_PERCENT", 100)
# How much of an asset may leave in 24 hours for all stores together before somebody is called; it
# stops nothing.
SIGNER_ALARMS: list[str] = env.list("SIGNER_ALARMS", default=catalog.alarms())
# A live payout is at least so many times the gas of the moment, and the asset's own minimum.
PAYOUT_MINIMUM_GAS_TIMES: int = env.int("PAYOUT_MINIMUM_GAS_TIMES", 2)
# A store's payouts to one destination may fail on the chain so often in a day.
PAYOUT_FAILURES_MAX: int = env.int("PAYOUT_FAILURES_MAX", 3)
# The gas that a contract is given when native coins are sent to it.
SIGNER_CONTRACT_GAS: int = env.int("SIGNER_CONTRACT_GAS", 120_000)
# Below so many coins a hot wallet of the chain should be given more for gas, in its native coin.
SIGNER_GAS_FLOORS: list[str] = env.list("SIGNER_GAS_FLOORS", default=catalog.fee_floors())
# The most of an amount, in percent, that bringing it to the hot wallet may cost in gas where its
# asset doesn't say it. What is dearer waits.
SWEEP_COST_PERCENT: int = env.int("SWEEP_COST_PERCENT", 10)
# Deposits of an asset are brought to the hot wallet from this many coins on where the asset doesn't
# say it; an asset without a line stays where it is.
SWEEP_MINIMUMS: list[str] = env.list("SWEEP_MINIMUMS", default=catalog.sweep_minimums())
# What is less is brought all the same once it has been there for as many days as its asset says,
# when it costs at most so much of it, in percent.
SWEEP_AGED_COST_PERCENT: int = env.int("SWEEP_AGED_COST_PERCENT", 50)
# Cold storage, by asset: what stays in the hot wallet and from how much on the rest is moved (twice
# as much when left out), in coins; and where it goes, a fixed address or an xpub that gives each
# transfer an address of its own.
COLD_FLOATS: dict[str, str] = pairs_from_env("COLD_FLOATS")
COLD_ADDRESSES: dict[str, str] = pairs_from_env("COLD_ADDRESSES")
# The only addresses that the operator's own earnings may be withdrawn to.
WITHDRAWAL_ADDRESSES: list[str] = env.list("WITHDRAWAL_ADDRESSES", default=[])
# A payout in review that is worth more, in cents of its store's currency, takes two members of
# staff.
STAFF_FOUR_EYES_ABOVE_CENTS: int = env.int("STAFF_FOUR_EYES_ABOVE_CENTS", 1_000_000)
# How long a worker waits in live mode before it books what staff decided on the staff site and no
# record proves (corrections, coins back from an off-ramp). One member of staff stops it until then.
# How long users of test mode have to end, before its records are put away and once more after.
TEST_RESET_SECONDS: int = env.int("TEST_RESET_SECONDS", 30)
WORKER_ORDER_MINUTES: int = env.int("WORKER_ORDER_MINUTES", 60)
# What such corrections may credit to live stores in 24 hours, all together, in cents of EUR.
CORRECTIONS_DAY_CENTS: int = env.int("CORRECTIONS_DAY_CENTS", 1_000_000)
# The exchange of a chain: its router (Uniswap V2 or one with its interface) and the contract of the
# wrapped coin.
SWAP_ROUTERS: list[str] = env.list(
    "SWAP_ROUTERS",
    default=[
        "ethereum=0x7a250d5630b4cf539739df2c5dacb4c659f2488d:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
    ]
    if IS_PRODUCTION
    else [],
)
# Who fills live swaps: the service's own coins (treasury) or an exchange on the chain (uniswap).
# Test mode swaps are simulated.
SWAP_PROVIDER: str = env.str("SWAP_PROVIDER", "treasury")
SWAP_SPREAD_BPS: int = env.int("SWAP_SPREAD_BPS", 50)
SWAP_SLIPPAGE_BPS: int = env.int("SWAP_SLIPPAGE_BPS", 50)
# In US dollars: from the treasury more is swapped only at rates on which two sources agree, and no
# more by a store in 24 hours.
SWAP_ONE_SOURCE_USD: int = env.int("SWAP_ONE_SOURCE_USD", 1000)
SWAP_STORE_DAY_USD: int = env.int("SWAP_STORE_DAY_USD", 100_000)
# Who pays live bank payouts: the embedded sandbox, or an off-ramp behind HTTP with its key and the
# secret of its callbacks.
OFFRAMP_PROVIDER: str = env.str("OFFRAMP_PROVIDER", "http" if IS_PRODUCTION else "sandbox")
OFFRAMP_URL: str = env.str("OFFRAMP_URL", "")
OFFRAMP_API_KEY: str = env.str("OFFRAMP_API_KEY", "")
OFFRAMP_CALLBACK_SECRET: str = env.str("OFFRAMP_CALLBACK_SECRET", "")
# How many ordinary requests one web process works on at once; what waits for others has threads of
# its own (config/lanes.py).
WEB_THREADS: int = env.int("WEB_THREADS", 4)
# A caller that settles over x402 hears after so long that the outcome isn't known yet. So many wait
# in one web process.
X402_SETTLE_SECONDS: float = env.float("X402_SETTLE_SECONDS", 20.0)
X402_WAITING_MAX: int = env.int("X402_WAITING_MAX", 3)
# A row that a job can't move is left alone for so many seconds, then twice as long; after so many
# tries it waits for staff.
ROW_PAUSE_SECONDS: int = env.int("ROW_PAUSE_SECONDS", 5)
ROW_TRIES_MAX: int = env.int("ROW_TRIES_MAX", 12)
# How long what is only looked at is kept; the books, payments, events of payments and the audit log
# stay for ever.
REQUEST_LOG_DAYS: int = env.int("REQUEST_LOG_DAYS", 30)
WEBHOOK_KEPT_DAYS: int = env.int("WEBHOOK_KEPT_DAYS", 90)
OAUTH_KEPT_DAYS: int = env.int("OAUTH_KEPT_DAYS", 30)
MAIL_KEPT_DAYS: int = env.int("MAIL_KEPT_DAYS", 90)
VERIFICATION_DOCUMENT_DAYS: int = env.int("VERIFICATION_DOCUMENT_DAYS", 365)
# The request log is written in batches this often; 0: only when it is asked to (tests).
REQUEST_LOG_SECONDS = 0.0 if TILLGATE_ENV == "test" else 1.0
# Which networks of card providers each mode has, in the order of preference. The embedded one
# charges nobody.
CARD_NETWORKS = {
    "live": env.list("CARD_NETWORKS_LIVE", default=["onramper"] if IS_PRODUCTION else ["sandbox"]),
    "test": env.list("CARD_NETWORKS_TEST", default=["sandbox"]),
}
ONRAMPER_URL: str = env.str("ONRAMPER_URL", "https://api.onramper.com")
ONRAMPER_TEST_URL: str = env.str("ONRAMPER_TEST_URL", "https://api-stg.onramper.com")
# What a card may cost the store that bears it, and what is charged on top for rates that move where
# the customer does.
CARD_RATE_BPS: int = env.int("CARD_RATE_BPS", 400)
CARD_SURCHARGE_BPS: int = env.int("CARD_SURCHARGE_BPS", 50)
# Networks are asked for so long; what they said is good for so long.
CARD_DEADLINE_SECONDS: float = env.float("CARD_DEADLINE_SECONDS", 8.0)
CARD_QUOTE_SECONDS: int = env.int("CARD_QUOTE_SECONDS", 45)
# The headers in which the edge in front of this service says where a customer is.
EDGE_COUNTRY_HEADERS: list[str] = env.list("EDGE_COUNTRY_HEADERS", default=["CF-IPCountry"])
EDGE_REGION_HEADERS: list[str] = env.list(
    "EDGE_REGION_HEADERS", default=["CF-Region-Code", "CF-Region"]
)
DEFAULT_FROM_EMAIL: str = env.str("DEFAULT_FROM_EMAIL", "Tillgate <tillgate@localhost>")
EMAIL_BACKEND: str = env.str(
    "EMAIL_BACKEND", refusals.SMTP if IS_PRODUCTION else "apps.core.mailbox.Folder"
)
EMAIL_HOST: str = env.str("EMAIL_HOST", "localhost")
EMAIL_PORT: int = env.int("EMAIL_PORT", 25)
EMAIL_HOST_USER: str = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD: str = env.str("EMAIL_HOST_PASSWORD", "")
# STARTTLS, or TLS from the first byte.
EMAIL_USE_TLS: bool = env.bool("EMAIL_USE_TLS", False)
EMAIL_USE_SSL: bool = env.bool("EMAIL_USE_SSL", False)
# What a backend of anymail needs, as its documentation names it: {"POSTMARK_SERVER_TOKEN": "..."}
ANYMAIL: dict[str, Any] = env.json("ANYMAIL", {})
# The folder of pg_dump and pg_restore, for backups; those on PATH when left out.
POSTGRES_CLIENT_BIN: str = env.str("POSTGRES_CLIENT_BIN", "")
LOG_LEVEL: str = env.str("LOG_LEVEL", "INFO")
VAR_DIR = Path(env.str("TILLGATE_VAR", str(BASE_DIR / "var")))
# Where processes that serve together add up what they count; in memory, because every request does.
METRICS_FOLDER = Path(env.str("METRICS_FOLDER", str(VAR_DIR / "run" / "metrics")))
S3_BUCKET: str = env.str("S3_BUCKET", "")
S3_OPTIONS = {
    "endpoint_url": env.str("S3_ENDPOINT_URL", ""),
    "region_name": env.str("S3_REGION", ""),
    "access_key": env.str("S3_ACCESS_KEY_ID", ""),
    "secret_key": env.str("S3_SECRET_ACCESS_KEY", ""),
}
SIGNER_KEY_FILE: str = env.str("SIGNER_KEY_FILE", str(VAR_DIR / "signer.key"))
# Who keeps the hot wallets' keys and opens the key file: file (a passphrase), pkcs11 (a token) or
# kms (AWS).
SIGNER_KEYSTORE: str = env.str("SIGNER_KEYSTORE", "file")
# By mode, the names of the keys of the hot wallets in the keystore, joined by plus signs; and of
# the key that opens the key file.
SIGNER_HOT_KEYS: dict[str, str] = pairs_from_env("SIGNER_HOT_KEYS")
# By chain, how many hot wallets it has, which share what leaves. One when left out.
SIGNER_LANES: dict[str, int] = counts_from_env("SIGNER_LANES", SIGNER_LANES_MAX)
# On networks with coins: how long it was quiet when one transaction pays all that was asked for.
SIGNER_GATHER_SECONDS: dict[str, int] = counts_from_env("SIGNER_GATHER_SECONDS", 3600, least=0)
SIGNER_WRAPPING_KEY: str = env.str("SIGNER_WRAPPING_KEY", "")
PKCS11_MODULE: str = env.str("PKCS11_MODULE", "")
PKCS11_TOKEN: str = env.str("PKCS11_TOKEN", "")

# Of the environment what is not for us although it looks so.
IGNORED_VARIABLES: list[str] = env.list("IGNORED_VARIABLES", default=[])

if IS_PRODUCTION:
    refusals.enforce(
        refusals.Configuration(os.environ, frozenset(env.names), tuple(env.unreadable), globals())
    )
elif env.unreadable:
    raise ImproperlyConfigured("; ".join(env.unreadable))
elif urlsplit(PUBLIC_URL).hostname not in ("localhost", "127.0.0.1"):
    raise ImproperlyConfigured(
        "Outside production PUBLIC_URL must be on this machine: set TILLGATE_ENV=production"
    )
