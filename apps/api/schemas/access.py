"""What is answered about API keys and OAuth."""

from apps.api.plumbing.shapes import many, null, of, plus
from apps.core.literal import Schema

KEY = of("id:uuid name mode key_type scopes:texts prefix last_four last_used_at:time|null revoked_at:time|null created_at:time")
APP = of(
    "id:uuid client_id name website_url|null logo_url|null confidential:bool redirect_uris:texts scopes:texts has_secret:bool active:bool "
    "created_at:time"
)
APP_WITH_SECRET = plus(APP, "client_secret|null")
TOKENS = of("access_token token_type expires_in:int scope store_id:uuid|null livemode:bool refresh_token? refresh_token_expires_in?:int")

ANSWERS: dict[str, Schema] = {
    "GET api_keys": many(KEY),
    "POST api_keys": plus(KEY, "secret"),
    "GET merchants/oauth_apps": many(APP),
    "POST merchants/oauth_apps": APP_WITH_SECRET,
    "GET merchants/oauth_apps/<str:id>": APP,
    "PATCH merchants/oauth_apps/<str:id>": APP,
    "POST merchants/oauth_apps/<str:id>/rotate_secret": APP_WITH_SECRET,
    "GET oauth/authorize": of(
        "scopes:texts livemode:bool",
        application=of("name client_id website_url|null logo_url|null"),
        stores=many(of("id:uuid name")),
    ),
    "POST oauth/authorize": of("redirect_to"),
    "POST oauth/token": TOKENS,
    "POST oauth/revoke": null({}),
    "GET oauth/userinfo": of("sub:uuid name email"),
    "POST oauth/agent_credentials": of(
        "id:uuid token_prefix mode livemode:bool name agent_principal scopes:texts last_used_at:time|null revoked_at:time|null "
        "expires_at:time|null created_at:time secret"
    ),
}
