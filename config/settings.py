"""Every setting, read from the environment at the top; the PROVIDERS, DUE and LIMITS tables stand at the bottom.

Nothing is started from here: services are only addresses. A production start with a missing or published secret refuses.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from config import demo_secrets

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

# --- the environment -----------------------------------------------------------------------------

TILLGATE_ENV: str = env.str("TILLGATE_ENV", "demo")
if TILLGATE_ENV not in ("production", "demo", "test"):
    raise ImproperlyConfigured(f"TILLGATE_ENV must be production, demo or test, not {TILLGATE_ENV!r}")
IS_PRODUCTION = TILLGATE_ENV == "production"


def secret(name: str) -> str:
    """A secret from the environment; outside production the published demo value stands in."""
    value: str = env.str(name, "")
    published = demo_secrets.PUBLISHED[name]
    if not IS_PRODUCTION:
        return value or published
    if not value:
        raise ImproperlyConfigured(f"{name} is missing: set it in the environment")
    if value == published:
        raise ImproperlyConfigured(f"{name} holds the published demo value: generate your own")
    return value


def service(name: str) -> str:
    """The address of a service that production must be given."""
    value: str = env.str(name, "")
    if IS_PRODUCTION and not value:
        raise ImproperlyConfigured(f"{name} is missing: set it in the environment")
    return value


SECRET_KEY = secret("SECRET_KEY")
ENCRYPTION_KEYS: list[str] = secret("ENCRYPTION_KEYS").split(",")
DEPOSIT_XPUBS = {"live": secret("DEPOSIT_XPUB_LIVE"), "test": secret("DEPOSIT_XPUB_TEST")}
PUBLIC_URL: str = (service("PUBLIC_URL") or "http://localhost:8000").rstrip("/")
DATABASE_URL = service("DATABASE_URL")
REDIS_URL = service("REDIS_URL")
METRICS_TOKEN: str = secret("METRICS_TOKEN")
ALLOWED_HOSTS: list[str] = env.list(
    "ALLOWED_HOSTS", default=[urlsplit(PUBLIC_URL).hostname, *(() if IS_PRODUCTION else ("localhost", "127.0.0.1"))]
)
TRUSTED_PROXY_HOPS: int = env.int("TRUSTED_PROXY_HOPS", 0)
DNS_SERVERS: list[str] = env.list("DNS_SERVERS", default=[])
WEBHOOK_ALLOW_HOSTS: list[str] = env.list("WEBHOOK_ALLOW_HOSTS", default=[])
RATE_PROVIDERS: list[str] = env.list("RATE_PROVIDERS", default=["coingecko", "kraken"] if IS_PRODUCTION else ["fixed"])
RATE_MAX_AGE_SECONDS: int = env.int("RATE_MAX_AGE_SECONDS", 300)
COINGECKO_API_KEY: str = env.str("COINGECKO_API_KEY", "")
CHAIN_POLL_SECONDS: float = env.float("CHAIN_POLL_SECONDS", 4.0 if IS_PRODUCTION else 0.5)
CHAIN_URLS: dict[str, list[str]] = {
    chain: env.list(f"CHAIN_{chain.upper()}_URL", default=[]) for chain in ("ethereum", "sepolia", "base", "arbitrum", "polygon")
}
CHAIN_START_BLOCKS: dict[str, int] = {
    chain: env.int(f"CHAIN_START_BLOCK_{chain.upper()}") for chain in CHAIN_URLS if env.str(f"CHAIN_START_BLOCK_{chain.upper()}", "")
}
CHAIN_TIP_MAX_AGE_SECONDS: int = env.int("CHAIN_TIP_MAX_AGE_SECONDS", 600 if IS_PRODUCTION else 0)
CHAIN_BALANCE_CHECK_BLOCKS: int = env.int("CHAIN_BALANCE_CHECK_BLOCKS", 10)
# In production a process of its own signs; elsewhere the worker does it.
SIGNER_INLINE = not IS_PRODUCTION
SIGNER_MAX_FEE_GWEI: int = env.int("SIGNER_MAX_FEE_GWEI", 300)
SIGNER_STUCK_SECONDS: int = env.int("SIGNER_STUCK_SECONDS", 180)
SIGNER_CAPS: list[str] = env.list(
    "SIGNER_CAPS",
    default=[
        *("ETH=10:100", "SETH=10:100", "POL=50000:500000"),
        *("ETH_USDC=50000:500000", "ETH_USDT=50000:500000", "USDC_SETH=50000:500000", "USDT_SETH=50000:500000"),
        *("POL_USDC=50000:500000", "POL_USDT=50000:500000", "BASE_USDC=50000:500000"),
        *("ARB_USDC=50000:500000", "ARB_USDT=50000:500000"),
    ],
)
# Deposits of an asset are brought to the hot wallet from this many coins on; an asset without a line stays where it is.
SWEEP_MINIMUMS: list[str] = env.list(
    "SWEEP_MINIMUMS",
    default=[
        *("ETH=0.05", "SETH=0.05", "POL=50", "ETH_USDC=50", "ETH_USDT=50", "USDC_SETH=50", "USDT_SETH=50"),
        *("POL_USDC=10", "POL_USDT=10", "BASE_USDC=10", "ARB_USDC=10", "ARB_USDT=10"),
    ],
)
# The exchange of a chain: its router (Uniswap V2 or one with its interface) and the contract of the wrapped coin.
SWAP_ROUTERS: list[str] = env.list(
    "SWAP_ROUTERS",
    default=["ethereum=0x7a250d5630b4cf539739df2c5dacb4c659f2488d:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"] if IS_PRODUCTION else [],
)
# Who fills live swaps: the service's own coins (treasury) or an exchange on the chain (uniswap). Test mode swaps are simulated.
SWAP_PROVIDER: str = env.str("SWAP_PROVIDER", "treasury")
SWAP_SPREAD_BPS: int = env.int("SWAP_SPREAD_BPS", 50)
SWAP_SLIPPAGE_BPS: int = env.int("SWAP_SLIPPAGE_BPS", 50)
# Who pays live bank payouts: the embedded sandbox, or an off-ramp behind HTTP with its key and the secret of its callbacks.
OFFRAMP_PROVIDER: str = env.str("OFFRAMP_PROVIDER", "http" if IS_PRODUCTION else "sandbox")
OFFRAMP_URL: str = env.str("OFFRAMP_URL", "")
OFFRAMP_API_KEY: str = env.str("OFFRAMP_API_KEY", "")
OFFRAMP_CALLBACK_SECRET: str = env.str("OFFRAMP_CALLBACK_SECRET", "")
# Whoever settles over x402 is told after so long that the outcome isn't known yet.
X402_SETTLE_SECONDS: float = env.float("X402_SETTLE_SECONDS", 20.0)
# How long what is only looked at is kept; the books, payments, events of payments and the audit log stay for ever.
REQUEST_LOG_DAYS: int = env.int("REQUEST_LOG_DAYS", 30)
WEBHOOK_KEPT_DAYS: int = env.int("WEBHOOK_KEPT_DAYS", 90)
OAUTH_KEPT_DAYS: int = env.int("OAUTH_KEPT_DAYS", 30)
MAIL_KEPT_DAYS: int = env.int("MAIL_KEPT_DAYS", 90)
# The request log is written in batches this often; 0: only when it is asked to (tests).
REQUEST_LOG_SECONDS = 0.0 if TILLGATE_ENV == "test" else 1.0
# Which networks of card providers each mode has, in the order of preference. The embedded one charges nobody.
CARD_NETWORKS = {
    "live": env.list("CARD_NETWORKS_LIVE", default=["onramper"] if IS_PRODUCTION else ["sandbox"]),
    "test": env.list("CARD_NETWORKS_TEST", default=["sandbox"]),
}
if IS_PRODUCTION and "sandbox" in CARD_NETWORKS["live"]:
    raise ImproperlyConfigured("CARD_NETWORKS_LIVE can't hold sandbox in production: it charges nobody")
# What a card may cost the store that bears it, and what is charged on top for rates that move where the customer does.
CARD_RATE_BPS: int = env.int("CARD_RATE_BPS", 400)
CARD_SURCHARGE_BPS: int = env.int("CARD_SURCHARGE_BPS", 50)
# Networks are asked for so long; what they said is good for so long.
CARD_DEADLINE_SECONDS: float = env.float("CARD_DEADLINE_SECONDS", 8.0)
CARD_QUOTE_SECONDS: int = env.int("CARD_QUOTE_SECONDS", 45)
# The headers in which the edge in front of this service says where a customer is.
EDGE_COUNTRY_HEADERS: list[str] = env.list("EDGE_COUNTRY_HEADERS", default=["CF-IPCountry"])
EDGE_REGION_HEADERS: list[str] = env.list("EDGE_REGION_HEADERS", default=["CF-Region-Code", "CF-Region"])
DEFAULT_FROM_EMAIL: str = env.str("DEFAULT_FROM_EMAIL", "Tillgate <tillgate@localhost>")
LOG_LEVEL: str = env.str("LOG_LEVEL", "INFO")
VAR_DIR = Path(env.str("TILLGATE_VAR", str(BASE_DIR / "var")))
S3_BUCKET: str = env.str("S3_BUCKET", "")
_S3_OPTIONS = {
    "endpoint_url": env.str("S3_ENDPOINT_URL", ""),
    "region_name": env.str("S3_REGION", ""),
    "access_key": env.str("S3_ACCESS_KEY_ID", ""),
    "secret_key": env.str("S3_SECRET_ACCESS_KEY", ""),
}
SIGNER_KEY_FILE: str = env.str("SIGNER_KEY_FILE", str(VAR_DIR / "signer.key"))

if not IS_PRODUCTION and urlsplit(PUBLIC_URL).hostname not in ("localhost", "127.0.0.1"):
    raise ImproperlyConfigured("PUBLIC_URL may only be on this machine outside production: set TILLGATE_ENV=production")

# --- Django --------------------------------------------------------------------------------------

DEBUG = False
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "config.admin.StaffConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "django_otp",
    "django_otp_webauthn",
    "oauth2_provider",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "heroicons",
    "django_prometheus",
    "anymail",
    "apps.core",
    "apps.stores",
    "apps.access",
    "apps.assets",
    "apps.ledger",
    "apps.chain",
    "apps.webhooks",
    "apps.payments",
    "apps.swaps",
    "apps.payouts",
    "apps.onramp",
    "apps.billing",
    "apps.platforms",
    "apps.agents",
    "apps.reports",
    "apps.api",
    "apps.dashboard",
    "apps.hosted",
    "apps.console",
]
MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "apps.core.middleware.RequestId",
    "apps.hosted.domains.CheckoutDomain",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "apps.core.middleware.ApiGuard",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
        },
    }
]
DATABASES: dict[str, dict[str, Any]] = {"default": env.db_url_config(DATABASE_URL) if DATABASE_URL else {}}
DATABASES["default"] |= {"ENGINE": "apps.core.postgresql", "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}
# Statements of core.sql are planned once per connection; Django's own cursors never are.
DATABASES["default"]["OPTIONS"] = {**DATABASES["default"].get("OPTIONS", {}), "prepare_threshold": 2}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL or "redis://"}}
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_NAME = "__Host-session" if IS_PRODUCTION else "session"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_PRODUCTION
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "__Host-csrf" if IS_PRODUCTION else "csrftoken"
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
AUTH_USER_MODEL = "stores.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/dashboard/sign-in"
PASSWORD_RESET_TIMEOUT = 3600
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
APPEND_SLASH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]


def _storage(folder: str, on_this_machine: str) -> dict[str, Any]:
    """Where uploads (`default`) and what only a link opens (`private`) are kept: a folder here or, with a bucket, S3."""
    if not S3_BUCKET:
        return {"BACKEND": on_this_machine, "OPTIONS": {"location": str(VAR_DIR / folder)}}
    options: dict[str, Any] = {"bucket_name": S3_BUCKET, "location": folder, "default_acl": None, "file_overwrite": True}
    options |= {"querystring_expire": 3600, "signature_version": "s3v4"}
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options | {key: value for key, value in _S3_OPTIONS.items() if value}}


STORAGES = {
    "default": _storage("media", "django.core.files.storage.FileSystemStorage"),
    "private": _storage("private", "apps.core.private_files.PrivateFiles"),
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if IS_PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not IS_PRODUCTION
EMAIL_BACKEND = env.str("EMAIL_BACKEND", "django.core.mail.backends.smtp.EmailBackend" if IS_PRODUCTION else "apps.core.mailbox.Folder")
EMAIL_FILE_PATH = str(VAR_DIR / "mailbox")
EMAIL_HOST, EMAIL_PORT = env.str("EMAIL_HOST", "localhost"), env.int("EMAIL_PORT", 25)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_USER", ""), env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", False)
EMAIL_TIMEOUT = 10
# What a backend of anymail needs, as its documentation names it: {"POSTMARK_SERVER_TOKEN": "..."}
ANYMAIL: dict[str, Any] = env.json("ANYMAIL", {})
OTP_TOTP_ISSUER = OTP_WEBAUTHN_RP_NAME = "Tillgate"
# Passkeys are of this host for ever: under another PUBLIC_URL people set theirs up anew.
OTP_WEBAUTHN_RP_ID = urlsplit(PUBLIC_URL).hostname
OTP_WEBAUTHN_ALLOWED_ORIGINS = ["{0.scheme}://{0.netloc}".format(urlsplit(PUBLIC_URL))]
OTP_WEBAUTHN_HELPER_CLASS = "apps.access.passkeys.Ceremonies"

# --- browser headers -----------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "https:", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
        "manifest-src": ["'self'"],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31536000 if IS_PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = IS_PRODUCTION
SECURE_HSTS_PRELOAD = IS_PRODUCTION
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY_HOPS else None
SECURE_SSL_REDIRECT = IS_PRODUCTION and PUBLIC_URL.startswith("https://")
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
X_FRAME_OPTIONS = "DENY"
# auth.E003: an address is unique without regard to case, by a constraint. urls.W003: route names hold their path.
# otp_webauthn.E031: outside production this machine is an address without TLS.
SILENCED_SYSTEM_CHECKS = ["security.W019", "auth.E003", "urls.W003", "otp_webauthn.E031"]

# --- REST framework ------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["apps.api.plumbing.json.JsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.api.plumbing.json.JsonObjectParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "apps.api.plumbing.json.OnlyJson",
    "EXCEPTION_HANDLER": "apps.api.plumbing.errors.respond",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
API_VERSION = "2026-11-01"
SPECTACULAR_SETTINGS = {
    "TITLE": "Tillgate",
    "DESCRIPTION": "Take crypto payments: priced in fiat, watched on-chain, booked on a double-entry ledger, told by webhook.",
    "VERSION": "2",
    "OAS_VERSION": "3.1.1",
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v2/",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "/static/img/favicon.svg",
    "APPEND_COMPONENTS": {
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}, "basic": {"type": "http", "scheme": "basic"}},
    },
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "apps.api.schemas.events.add_webhooks"],
}

# --- OAuth: who may do what is told in apps/access; here the library's loose defaults are closed --

OAUTH2_PROVIDER_APPLICATION_MODEL = "access.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "access.Grant"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "access.AccessToken"  # noqa: S105  # a model
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "access.RefreshToken"  # noqa: S105  # a model
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "access.IDToken"  # noqa: S105  # a model
OAUTH2_PROVIDER_DEVICE_GRANT_MODEL = "access.DeviceGrant"
OAUTH2_PROVIDER = {
    "PKCE_REQUIRED": True,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
}

# --- logs ----------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "apps.core.logs.JsonFormatter"}},
    "filters": {"redact": {"()": "apps.core.logs.Redact"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["redact"]}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {"django.server": {"level": "WARNING"}, "django.request": {"level": "ERROR"}, "weasyprint": {"level": "ERROR"}},
}

# --- which adapter serves what, per mode ---------------------------------------------------------

_RATE_BACKENDS = {
    "fixed": {"BACKEND": "apps.assets.providers.fixed.Fixed", "OPTIONS": {}},
    "coingecko": {
        "BACKEND": "apps.assets.providers.coingecko.CoinGecko",
        "OPTIONS": {"base_url": env.str("COINGECKO_URL", "https://api.coingecko.com/api/v3"), "api_key": COINGECKO_API_KEY},
    },
    "kraken": {
        "BACKEND": "apps.assets.providers.kraken.Kraken",
        "OPTIONS": {"base_url": env.str("KRAKEN_URL", "https://api.kraken.com/0/public")},
    },
}
_SWAP_BACKENDS = {
    "treasury": {"BACKEND": "apps.swaps.providers.treasury.Treasury", "OPTIONS": {"spread_bps": SWAP_SPREAD_BPS}},
    "uniswap": {"BACKEND": "apps.swaps.providers.uniswap.Uniswap", "OPTIONS": {}},
}
_OFFRAMP_BACKENDS = {
    # Where the sandbox takes coins to: nobody has its key.
    "sandbox": {
        "BACKEND": "apps.payouts.providers.sandbox.Sandbox",
        "OPTIONS": {"deposit_address": "0x5a4db0c5000000000000000000000000000ba4c0"},
    },
    "http": {
        "BACKEND": "apps.payouts.providers.http.HttpOfframp",
        "OPTIONS": {"base_url": OFFRAMP_URL, "api_key": OFFRAMP_API_KEY},
    },
}
_SWAPS_SIMULATED = {"BACKEND": "apps.swaps.providers.treasury.Treasury", "OPTIONS": {"spread_bps": SWAP_SPREAD_BPS, "is_limited": False}}
_DNS = {"BACKEND": "apps.stores.providers.dns.Dns", "OPTIONS": {"servers": DNS_SERVERS}}
_MARKET_BACKENDS: dict[str, dict[str, Any]] = {
    "fixed": {"BACKEND": "apps.agents.providers.market_fixed.FixedMarket", "OPTIONS": {}},
    "coingecko": {"BACKEND": "apps.agents.providers.market_coingecko.CoinGeckoMarkets", "OPTIONS": _RATE_BACKENDS["coingecko"]["OPTIONS"]},
}
_ONRAMPER = "apps.onramp.providers.onramper.Onramper"
_CARD_BACKENDS = {
    ("sandbox", "live"): {"BACKEND": "apps.onramp.providers.sandbox.Sandbox", "OPTIONS": {"delivers": not IS_PRODUCTION}},
    ("sandbox", "test"): {"BACKEND": "apps.onramp.providers.sandbox.Sandbox", "OPTIONS": {}},
    ("onramper", "live"): {
        "BACKEND": _ONRAMPER,
        "OPTIONS": {"base_url": env.str("ONRAMPER_URL", "https://api.onramper.com"), "quote_seconds": CARD_DEADLINE_SECONDS},
    },
    ("onramper", "test"): {
        "BACKEND": _ONRAMPER,
        "OPTIONS": {"base_url": env.str("ONRAMPER_TEST_URL", "https://api-stg.onramper.com"), "quote_seconds": CARD_DEADLINE_SECONDS},
    },
}
PROVIDERS: dict[str, dict[str, list[dict[str, Any]]]] = {
    # Networks of card providers; their secrets are rows that staff write.
    "onramp": {mode: [_CARD_BACKENDS[name, mode] for name in names] for mode, names in CARD_NETWORKS.items()},
    # Where checkout domains are looked up; a demo asks nobody and serves names under .localhost.
    "dns": {"live": [_DNS if IS_PRODUCTION else {"BACKEND": "apps.stores.providers.local.Local", "OPTIONS": {}}]},
    "chain": {mode: [{"BACKEND": "apps.chain.providers.jsonrpc.JsonRpc", "OPTIONS": {}}] for mode in ("live", "test")},
    # Tried in order; the first that answers prices. Test mode never asks outside, so that tests repeat.
    "rates": {"live": [_RATE_BACKENDS[name] for name in RATE_PROVIDERS], "test": [_RATE_BACKENDS["fixed"]]},
    # The first takes new swaps; the others are known so that what they have begun can end.
    "swaps": {
        "live": [_SWAP_BACKENDS[SWAP_PROVIDER], *(one for name, one in _SWAP_BACKENDS.items() if name != SWAP_PROVIDER)],
        "test": [_SWAPS_SIMULATED],
    },
    # The first takes new bank payouts.
    "offramp": {
        "live": [_OFFRAMP_BACKENDS[OFFRAMP_PROVIDER], *(one for name, one in _OFFRAMP_BACKENDS.items() if name != OFFRAMP_PROVIDER)],
        "test": [{"BACKEND": "apps.payouts.providers.sandbox.Sandbox", "OPTIONS": {}}],
    },
    # Public figures, the same for everybody; the first answers.
    "market": {"live": [_MARKET_BACKENDS["coingecko" if IS_PRODUCTION else "fixed"]]},
}

# What a store's authorization provider is made by; the row holds which, and its rules or address.
AUTHORIZERS = {"policy": "apps.agents.providers.policy.Policy", "http": "apps.agents.providers.http.HttpPolicy"}

# --- what the passing of time makes due (core.clock walks this when a test clock is moved) --------

DUE: list[str] = [
    "apps.onramp.services.progress",
    "apps.payments.services.expire",
    "apps.payments.services.refund_progress",
    "apps.swaps.services.auto",
    "apps.swaps.services.progress",
    "apps.payouts.services.runs",
    "apps.payouts.services.progress",
    "apps.agents.services.mandates",
    "apps.billing.services.cycle",
    "apps.billing.services.reminders",
    "apps.webhooks.due",
]

# --- limits: tokens per minute, burst, per mode --------------------------------------------------

LIMITS: dict[str, dict[str, tuple[int, int]]] = {
    "payment_create": {"live": (1200, 200), "test": (300, 100)},
    "checkout": {"live": (300, 60), "test": (300, 60)},
    "checkout_address": {"live": (6000, 600), "test": (6000, 600)},
    "oauth_token": {"live": (300, 60), "test": (300, 60)},
    "oauth_authorize": {"live": (60, 20), "test": (60, 20)},
    "dashboard": {"live": (600, 120), "test": (600, 120)},
    "sign_in": {"live": (10, 5), "test": (10, 5)},
    "agentic": {"live": (600, 100), "test": (120, 40)},
    "x402": {"live": (1200, 200), "test": (300, 100)},
    "market_data": {"live": (30, 10), "test": (30, 10)},
    "onramp_methods": {"live": (20, 10), "test": (20, 10)},
    "onramp_methods_reference": {"live": (120, 40), "test": (120, 40)},
    "onramp_sessions": {"live": (12, 6), "test": (12, 6)},
    "onramp_sessions_reference": {"live": (60, 20), "test": (60, 20)},
    "token_attempts": {"live": (10, 5), "test": (10, 5)},
}
FAILED_AUTHENTICATIONS_MAX = 40
FAILED_AUTHENTICATIONS_WINDOW_SECONDS = 60

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
