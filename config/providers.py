"""Adapters of each provider, per mode: the form of Django's STORAGES, the first of a list is asked
first."""

from typing import Any

from config.environment import (
    CARD_DEADLINE_SECONDS,
    CARD_NETWORKS,
    COINBASE_URL,
    COINGECKO_API_KEY,
    COINGECKO_URL,
    DNS_SERVERS,
    ECB_URL,
    IS_PRODUCTION,
    KRAKEN_URL,
    KSEF_URL,
    NBP_URL,
    OFFRAMP_API_KEY,
    OFFRAMP_PROVIDER,
    OFFRAMP_URL,
    ONRAMPER_TEST_URL,
    ONRAMPER_URL,
    PEPPOL_ACCESS_POINT_TOKEN,
    PEPPOL_ACCESS_POINT_URL,
    PKCS11_MODULE,
    PKCS11_TOKEN,
    RATE_PROVIDERS,
    SIGNER_HOT_KEYS,
    SIGNER_KEYSTORE,
    SIGNER_WRAPPING_KEY,
    SWAP_ONE_SOURCE_USD,
    SWAP_PROVIDER,
    SWAP_SPREAD_BPS,
    VIES_URL,
)

_RATE_BACKENDS = {
    "fixed": {"BACKEND": "apps.assets.providers.fixed.Fixed", "OPTIONS": {}},
    "coingecko": {
        "BACKEND": "apps.assets.providers.coingecko.CoinGecko",
        "OPTIONS": {"base_url": COINGECKO_URL, "api_key": COINGECKO_API_KEY},
    },
    "coinbase": {
        "BACKEND": "apps.assets.providers.coinbase.Coinbase",
        "OPTIONS": {"base_url": COINBASE_URL},
    },
    "kraken": {
        "BACKEND": "apps.assets.providers.kraken.Kraken",
        "OPTIONS": {"base_url": KRAKEN_URL},
    },
}
_ECB = {"BACKEND": "apps.assets.providers.ecb.Ecb", "OPTIONS": {"url": ECB_URL}}
_TREASURY = {"spread_bps": SWAP_SPREAD_BPS, "one_source_max_cents": SWAP_ONE_SOURCE_USD * 100}
_SWAP_BACKENDS = {
    "treasury": {"BACKEND": "apps.swaps.providers.treasury.Treasury", "OPTIONS": _TREASURY},
    "uniswap": {"BACKEND": "apps.swaps.providers.uniswap.Uniswap", "OPTIONS": {}},
}
_OFFRAMP_BACKENDS = {
    # Where the sandbox takes coins to: nobody has its key.
    "sandbox": {
        "BACKEND": "apps.payouts.providers.sandbox.OfframpSandbox",
        "OPTIONS": {"deposit_address": "0x5a4db0c5000000000000000000000000000ba4c0"},
    },
    "http": {
        "BACKEND": "apps.payouts.providers.http.HttpOfframp",
        "OPTIONS": {"base_url": OFFRAMP_URL, "api_key": OFFRAMP_API_KEY},
    },
}
_SWAPS_SIMULATED = {
    "BACKEND": "apps.swaps.providers.treasury.Treasury",
    "OPTIONS": {**_TREASURY, "is_limited": False},
}
_DNS = {"BACKEND": "apps.stores.providers.dns.Dns", "OPTIONS": {"servers": DNS_SERVERS}}
_MARKET_BACKENDS: dict[str, dict[str, Any]] = {
    "fixed": {"BACKEND": "apps.agents.providers.market_fixed.FixedMarket", "OPTIONS": {}},
    "coingecko": {
        "BACKEND": "apps.agents.providers.market_coingecko.CoinGeckoMarkets",
        "OPTIONS": _RATE_BACKENDS["coingecko"]["OPTIONS"],
    },
}
_ONRAMPER = "apps.onramp.providers.onramper.Onramper"
_CARD_BACKENDS = {
    ("sandbox", "live"): {
        "BACKEND": "apps.onramp.providers.sandbox.CardSandbox",
        "OPTIONS": {"delivers": not IS_PRODUCTION},
    },
    ("sandbox", "test"): {"BACKEND": "apps.onramp.providers.sandbox.CardSandbox", "OPTIONS": {}},
    ("onramper", "live"): {
        "BACKEND": _ONRAMPER,
        "OPTIONS": {"base_url": ONRAMPER_URL, "quote_seconds": CARD_DEADLINE_SECONDS},
    },
    ("onramper", "test"): {
        "BACKEND": _ONRAMPER,
        "OPTIONS": {"base_url": ONRAMPER_TEST_URL, "quote_seconds": CARD_DEADLINE_SECONDS},
    },
}
_KEPT = {"keys": SIGNER_HOT_KEYS, "wrapping_key": SIGNER_WRAPPING_KEY}
_KEYSTORES: dict[str, dict[str, Any]] = {
    "file": {"BACKEND": "apps.chain.providers.key_file.KeyFile", "OPTIONS": {}},
    "pkcs11": {
        "BACKEND": "apps.chain.providers.pkcs11.HardwareToken",
        "OPTIONS": {"module": PKCS11_MODULE, "token": PKCS11_TOKEN, **_KEPT},
    },
    "kms": {"BACKEND": "apps.chain.providers.kms.AwsKms", "OPTIONS": _KEPT},
}
_LOCAL_NUMBERS: dict[str, Any] = {
    "BACKEND": "apps.billing.providers.local.LocalRegistry",
    "OPTIONS": {},
}
_LOCAL_NETWORK: dict[str, Any] = {
    "BACKEND": "apps.billing.providers.local_network.LocalNetwork",
    "OPTIONS": {},
}
_ACCESS_POINT: dict[str, Any] = {
    "BACKEND": "apps.billing.providers.access_point.AccessPoint",
    "OPTIONS": {"base_url": PEPPOL_ACCESS_POINT_URL, "token": PEPPOL_ACCESS_POINT_TOKEN},
}
_LOCAL_KSEF: dict[str, Any] = {
    "BACKEND": "apps.billing.providers.local_ksef.LocalKsef",
    "OPTIONS": {},
}
_LOCAL_ZLOTY_RATES: dict[str, Any] = {
    "BACKEND": "apps.billing.providers.local_ksef.LocalZlotyRates",
    "OPTIONS": {},
}
_KSEF: dict[str, Any] = {
    "BACKEND": "apps.billing.providers.ksef.Ksef",
    "OPTIONS": {"base_url": KSEF_URL},
}
PROVIDERS: dict[str, dict[str, list[dict[str, Any]]]] = {
    # Networks of card providers; their secrets are rows that staff write.
    "onramp": {
        mode: [_CARD_BACKENDS[name, mode] for name in names]
        for mode, names in CARD_NETWORKS.items()
    },
    # Where checkout domains are looked up; a demo asks nobody and serves names under .localhost.
    "dns": {
        "live": [
            _DNS
            if IS_PRODUCTION
            else {"BACKEND": "apps.stores.providers.local.Local", "OPTIONS": {}}
        ]
    },
    # Of VAT numbers. Test mode asks nobody.
    "vat_numbers": {
        "live": [
            {"BACKEND": "apps.billing.providers.vies.Vies", "OPTIONS": {"base_url": VIES_URL}}
            if IS_PRODUCTION
            else _LOCAL_NUMBERS
        ],
        "test": [_LOCAL_NUMBERS],
    },
    # Networks that carry e-invoices to buyers; test mode sends nothing anywhere.
    "e_invoices": {
        "live": ([_ACCESS_POINT] if PEPPOL_ACCESS_POINT_URL else [])
        if IS_PRODUCTION
        else [_LOCAL_NETWORK],
        "test": [_LOCAL_NETWORK],
    },
    "ksef": {
        "live": ([_KSEF] if KSEF_URL else []) if IS_PRODUCTION else [_LOCAL_KSEF],
        "test": [_LOCAL_KSEF],
    },
    "zloty_rates": {
        "live": [
            {"BACKEND": "apps.billing.providers.nbp.Nbp", "OPTIONS": {"base_url": NBP_URL}}
            if IS_PRODUCTION
            else _LOCAL_ZLOTY_RATES
        ],
        "test": [_LOCAL_ZLOTY_RATES],
    },
    "chain": {
        mode: [{"BACKEND": "apps.chain.providers.jsonrpc.JsonRpc", "OPTIONS": {}}]
        for mode in ("live", "test")
    },
    "coin_chain": {
        mode: [{"BACKEND": "apps.chain.providers.bitcoind.BitcoinNodes", "OPTIONS": {}}]
        for mode in ("live", "test")
    },
    # One keystore has the keys of both modes; only the signer asks it.
    "keys": {"live": [_KEYSTORES[SIGNER_KEYSTORE]]},
    # Tried in order; the first that answers prices. Test mode never asks outside, so that tests
    # repeat.
    "rates": {
        "live": [_RATE_BACKENDS[name] for name in RATE_PROVIDERS],
        "test": [_RATE_BACKENDS["fixed"]],
    },
    # What no source of rates quotes a coin in is reached through dollars or euros.
    "crosses": {
        "live": [_ECB] if RATE_PROVIDERS != ["fixed"] else [],
        "test": [],
    },
    # The first takes new swaps; the others are known so that what they have begun can end.
    "swaps": {
        "live": [
            _SWAP_BACKENDS[SWAP_PROVIDER],
            *(backend for name, backend in _SWAP_BACKENDS.items() if name != SWAP_PROVIDER),
        ],
        "test": [_SWAPS_SIMULATED],
    },
    # The first takes new bank payouts.
    "offramp": {
        "live": [
            _OFFRAMP_BACKENDS[OFFRAMP_PROVIDER],
            *(backend for name, backend in _OFFRAMP_BACKENDS.items() if name != OFFRAMP_PROVIDER),
        ],
        "test": [{"BACKEND": "apps.payouts.providers.sandbox.OfframpSandbox", "OPTIONS": {}}],
    },
    # Public figures, the same for everybody; the first answers.
    "market": {"live": [_MARKET_BACKENDS["coingecko" if IS_PRODUCTION else "fixed"]]},
}

# What a store's authorization provider is made by; the row holds which, and its rules or address.
AUTHORIZERS = {
    "policy": "apps.agents.providers.policy.Policy",
    "http": "apps.agents.providers.http.HttpPolicy",
}

# What the search knows a network's texts by: each gives the spelling that is stored, or nothing.
SEARCHED_FORMS = {
    "address": "apps.chain.networks.families.address_in",
    "tx_hash": "apps.chain.networks.families.hash_of",
}

# Who makes the object of a test delivery, by family of events: the app that records the real ones.
EVENT_SAMPLES = {
    "payment_intent": "apps.payments.samples.intent",
    "transaction": "apps.payments.samples.transaction",
    "refund": "apps.payments.samples.refund",
    "invoice": "apps.billing.samples.invoice",
    "credit_note": "apps.billing.samples.credit_note",
    "subscription": "apps.billing.samples.subscription",
    "store.verification": "apps.platforms.samples.verification",
    "store": "apps.platforms.samples.deleted",
    "payout": "apps.webhooks.samples.payout",
    "fee_sweep": "apps.webhooks.samples.fee_sweep",
}
