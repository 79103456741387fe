"""Forms of developers: keys, apps, webhooks, agents and the test clock."""

from tests.dashboard.forms.broken import EVENTS, Broken, World, at

APP = {"name": "App", "redirect_uris": "https://a.example", "scopes": ["payments:read"]}

DEVELOPERS = (
    Broken(
        "key_create",
        at("api-keys/new"),
        {"name": "", "key_type": "secret"},
        "name",
        "Name can’t be blank.",
    ),
    Broken(
        "key_create",
        at("api-keys/new"),
        {"name": "Shop", "key_type": "golden"},
        "key_type",
        "Key_type must be secret or publishable.",
    ),
    Broken(
        "key_create",
        at("api-keys/new"),
        {"name": "Shop", "key_type": "secret", "scopes": ["a", "b"]},
        "scopes",
        "Scopes contains unknown scopes: a, b.",
    ),
    Broken(
        "key_create",
        at("api-keys/new"),
        {"name": "Shop", "key_type": "secret"},
        "scopes",
        "Choose at least one scope.",
    ),
    Broken(
        "oauth_app_create", at("apps/own/new"), {**APP, "name": ""}, "name", "Name can’t be blank."
    ),
    Broken(
        "oauth_app_create",
        at("apps/own/new"),
        {**APP, "scopes": []},
        "scopes",
        "Choose at least one scope.",
    ),
    Broken(
        "oauth_app_create",
        at("apps/own/new"),
        {**APP, "redirect_uris": "https://a.example ftp://b"},
        "redirect_uris",
        "Redirect URIs must be a valid URL.",
    ),
    Broken(
        "oauth_app",
        World.app,
        {**APP, "website_url": "nowhere"},
        "website_url",
        "Website must be a valid URL.",
    ),
    Broken(
        "test_clock",
        at("test-clock"),
        {"amount": "soon", "unit": "days"},
        "amount",
        "Enter a whole number from 1 to 9,999.",
    ),
    Broken("agent_create", at("agents/new"), {"name": ""}, "name", "Name can’t be blank."),
    Broken(
        "agent_create", at("agents/new"), {"name": "Bot"}, "scopes", "Choose at least one scope."
    ),
    Broken(
        "agent_caps",
        World.agent,
        {"SETH.per_tx": "much"},
        "SETH.per_tx",
        "Maximum per payout must be a decimal number of coins with at most 18 places.",
    ),
    Broken(
        "webhook_endpoint_create",
        at("webhooks/new"),
        {"url": "nowhere", "subscribed_events": EVENTS},
        "url",
        "URL must be http or https.",
    ),
    Broken(
        "webhook_endpoint_edit",
        World.endpoint_edit,
        {"url": "nowhere", "subscribed_events": EVENTS},
        "url",
        "URL must be http or https.",
    ),
    Broken(
        "webhook_endpoint_edit",
        World.endpoint_edit,
        {"url": "https://1.1.1.1/"},
        "subscribed_events",
        "Events can’t be blank.",
    ),
    Broken(
        "webhook_endpoint_resend",
        World.endpoint,
        {"from": "x", "to": "2026-01-01T00:00"},
        "from",
        "Choose a start and an end.",
    ),
)
