"""Django's settings. What the environment says is in config/environment.py, adapters in
providers.py, limits in limits.py, who is woken by what in followers.py."""

import os
from typing import Any
from urllib.parse import urlsplit

from config import databases
from config.environment import *  # noqa: F403  # each of them is a setting
from config.environment import (
    ADMIN_URL,
    API_URL,
    BASE_DIR,
    DASHBOARD_URL,
    DATABASE_POOLER,
    DATABASE_PREPARED_STATEMENTS,
    DATABASE_REPLICA_URL,
    DATABASE_URL,
    EMAIL_BACKEND,
    IS_PRODUCTION,
    LOG_LEVEL,
    PUBLIC_HOST,
    PUBLIC_URL,
    REDIS_URL,
    S3_BUCKET,
    S3_OPTIONS,
    TRUSTED_PROXY_HOPS,
    VAR_DIR,
    env,
)
from config.followers import *  # noqa: F403
from config.limits import *  # noqa: F403
from config.providers import *  # noqa: F403

# --- Django --------------------------------------------------------------------------------------

DEBUG = False
ROOT_URLCONF = "config.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "apps.staff.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "django_otp",
    "config.libraries.PasskeysConfig",
    "config.libraries.OAuthConfig",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_prometheus",
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
    "apps.links",
    "apps.platforms",
    "apps.agents",
    "apps.reports",
    "apps.api",
    "apps.dashboard",
    "apps.hosted",
    "apps.audit",
    "apps.console",
    "apps.staff.apps.StaffConfig",
    "apps.docs",
    "apps.mcp",
    *(("dev",) if not IS_PRODUCTION and (BASE_DIR / "dev").is_dir() else ()),
]
MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "apps.core.web.middleware.RequestId",
    "apps.hosted.domains.CheckoutDomain",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "apps.core.web.middleware.ContentSecurityPolicy",
    "apps.hosted.languages.CustomerLanguage",
    "config.hosts.OwnHosts",
    "apps.api.plumbing.guard.ApiGuard",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.access.signed_in.FactorOfSession",
    "apps.core.web.middleware.PageMessages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.core.web.middleware.RequestFigures",
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
                    [
                        "config.templates.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
        },
    }
]
DATABASES: dict[str, dict[str, Any]] = {
    "default": databases.database(
        env.db_url_config(DATABASE_URL) if DATABASE_URL else {},
        is_pooled=DATABASE_POOLER,
        is_prepared=DATABASE_PREPARED_STATEMENTS,
    )
}
if DATABASE_REPLICA_URL:
    DATABASES["replica"] = databases.replica(env.db_url_config(DATABASE_REPLICA_URL))
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": [REDIS_URL or "redis://"],  # a list: sentinels have commas between them
        "OPTIONS": (
            {"pool_class": "apps.core.redis.sentinel.SentinelPool"}
            if REDIS_URL.startswith("sentinel://")
            else {}
        ),
    }
}
SESSION_ENGINE = "apps.access.signed_in"
SESSION_COOKIE_NAME = "__Host-session" if IS_PRODUCTION else "session"
SESSION_COOKIE_AGE = 12 * 3600
DEVICE_COOKIE_NAME = "__Host-device" if IS_PRODUCTION else "device"  # apps.access.person.sign_in
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_PRODUCTION
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "__Host-csrf" if IS_PRODUCTION else "csrftoken"
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
AUTH_USER_MODEL = "stores.User"
AUTHENTICATION_BACKENDS = [
    "apps.access.signed_in.SignedInBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/dashboard/sign-in"
PASSWORD_RESET_TIMEOUT = 3600
LANGUAGE_CODE = "en"
# What customers can read, each by its own name (apps/hosted/languages.py says who is a customer).
# Staff and the API speak English.
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("pt", "Português (Brasil)"),
    ("it", "Italiano"),
    ("nl", "Nederlands"),
    ("pl", "Polski"),
    ("tr", "Türkçe"),
    ("ja", "日本語"),
    ("zh-hans", "简体中文"),
    ("ko", "한국어"),
    ("ar", "العربية"),
]
# What merchants can read; what of it isn't translated is English (apps/core/web/languages.py).
DASHBOARD_LANGUAGES = LANGUAGES[:4]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "config.formats"
USE_I18N = True
USE_TZ = True
APPEND_SLASH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "apps.core.web.bundles.BundleFinder",
]


def _storage(folder: str, on_this_machine: str) -> dict[str, Any]:
    """Storage of uploads (`default`) and of files behind links (`private`): a folder here or, with
    a bucket, S3."""
    if not S3_BUCKET:
        return {"BACKEND": on_this_machine, "OPTIONS": {"location": str(VAR_DIR / folder)}}
    options: dict[str, Any] = {
        "bucket_name": S3_BUCKET,
        "location": folder,
        "default_acl": None,
        "file_overwrite": True,
    }
    options |= {"querystring_expire": 3600, "signature_version": "s3v4"}
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": options | {key: value for key, value in S3_OPTIONS.items() if value},
    }


STORAGES = {
    "default": _storage("media", "django.core.files.storage.FileSystemStorage"),
    "private": _storage("private", "apps.core.documents.private_files.PrivateFiles"),
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if IS_PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
WHITENOISE_USE_FINDERS = not IS_PRODUCTION
if EMAIL_BACKEND.startswith("anymail."):
    INSTALLED_APPS.append("anymail")
# Of test mode: where mail is written to a folder, none of it reaches anybody.
TEST_MAIL_TO_EVERYBODY = EMAIL_BACKEND == "apps.core.mailbox.Folder"
EMAIL_FILE_PATH = str(VAR_DIR / "mailbox")
EMAIL_TIMEOUT = 10
OTP_TOTP_ISSUER = OTP_WEBAUTHN_RP_NAME = "Tillgate"
# Passkeys are of this host for ever: under another one people set theirs up anew. A dashboard below
# the host of PUBLIC_URL keeps that one.
_DASHBOARD = urlsplit(DASHBOARD_URL).hostname or ""
OTP_WEBAUTHN_RP_ID = PUBLIC_HOST if _DASHBOARD.endswith(f".{PUBLIC_HOST}") else _DASHBOARD
OTP_WEBAUTHN_ALLOWED_ORIGINS = list(
    dict.fromkeys(
        "{0.scheme}://{0.netloc}".format(urlsplit(url))
        for url in (PUBLIC_URL, DASHBOARD_URL, ADMIN_URL)
    )
)
OTP_WEBAUTHN_HELPER_CLASS = "apps.access.factors.ceremonies.Ceremonies"

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
SECURE_SSL_REDIRECT = IS_PRODUCTION
# What asks from beside us, without TLS: probes, and the proxy before it has a certificate.
SECURE_REDIRECT_EXEMPT = [
    r"^healthz$",
    r"^readyz(/web|/chains)?$",
    r"^metrics$",
    r"^internal/domain-allowed$",
]
X_FRAME_OPTIONS = "DENY"
# auth.W004: an address is unique without regard to case, by a constraint. urls.W003: route names
# hold their path. otp_webauthn.E031: outside production this machine is an address without TLS.
SILENCED_SYSTEM_CHECKS = ["security.W019", "auth.W004", "urls.W003", "otp_webauthn.E031"]

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
    "DESCRIPTION": (
        "Take crypto payments: priced in fiat, watched on-chain, booked on a double-entry ledger,"
        " told by webhook."
    ),
    "VERSION": "2",
    "OAS_VERSION": "3.1.1",
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v2/",
    "SERVERS": [{"url": API_URL}],
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "basic": {"type": "http", "scheme": "basic"},
            "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE_NAME},
        },
    },
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "POSTPROCESSING_HOOKS": ["apps.api.plumbing.assembly.finish"],
}

# --- OAuth: who may do what is decided in apps/access; here the library's loose defaults are closed
# --

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
    # A token counts in the Authorization header alone (apps/access/services.py), and answers say
    # who gives them (apps/access/authorization/server.py).
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
}

# --- logs ----------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "apps.core.process.logs.JsonFormatter"}},
    "filters": {
        "redact": {"()": "apps.core.process.logs.Redact"},
        "without_probes": {"()": "apps.core.process.logs.WithoutProbes"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["redact"]}
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"level": "WARNING"},
        "django.request": {"level": "ERROR", "filters": ["without_probes"]},
        # A line for each job that is due, received and done fills a disk while nothing happens.
        # What a job has to say it says itself, and one that fails is an error of the last of them.
        "celery.beat": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
}

# --- what the passing of time makes due (core.clock walks this when a test clock is moved) --------

# What must have ended before a store closes (apps.platforms.services.closing).
CLOSING: list[str] = ["apps.billing.services.closing"]
DUE: list[str] = [
    "apps.onramp.services.progress",
    "apps.payments.services.expire",
    "apps.payments.services.refund_progress",
    "apps.payments.services.transfer_returns",
    "apps.swaps.services.auto",
    "apps.swaps.services.progress",
    "apps.payouts.services.approval_decisions",
    "apps.payouts.services.runs",
    "apps.payouts.services.progress",
    "apps.agents.services.mandates",
    "apps.billing.subscriptions.cycle",
    "apps.billing.invoices.reminders",
    "apps.webhooks.due",
]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
