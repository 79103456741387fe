"""Forms of the store's settings, its verification, and of platforms."""

from tests.dashboard.forms.broken import Broken, World, at
from tests.dashboard.test_verification import FORM as BUSINESS

HOURS = "Choose from 0 to 72 hours."

SETTINGS = (
    Broken(
        "settings_store", at("settings/store"), {"name": ""}, "name", "The store name is required."
    ),
    Broken(
        "settings_store",
        at("settings/store"),
        {"name": "A", "website": "nowhere"},
        "website",
        "The website must be a valid URL.",
    ),
    Broken(
        "settings_store_close",
        at("settings/store/close"),
        {"name": "Another"},
        "name",
        "Type the store’s name exactly as it is shown.",
    ),
    Broken("settings_selling", at("settings/selling"), {}, "way", "Choose how you sell."),
    Broken(
        "settings_embedding",
        at("settings/embedding"),
        {"origins": "https://a.example/shop"},
        "origins",
        "Each line must be an origin such as https://shop.example.com, without a path.",
    ),
    Broken(
        "verification",
        at("verification"),
        {**BUSINESS, "street": ""},
        "street",
        "The street is required.",
    ),
    Broken(
        "settings",
        at("settings"),
        {"settlement_currency": "EUR", "support_email": "nobody"},
        "support_email",
        "The support email is not an email address.",
    ),
    Broken(
        "settings",
        at("settings"),
        {"settlement_currency": "XXX"},
        "settlement_currency",
        "Unsupported settlement currency: XXX.",
    ),
    Broken(
        "settings_branding",
        at("settings/branding"),
        {"primary_color": "#0a6b4c", "secondary_color": "red"},
        "secondary_color",
        "A color is # and six hexadecimal digits, such as #0a6b4c.",
    ),
    Broken(
        "settings_logo",
        at("settings/logo"),
        {},
        "logo",
        "The logo must be a PNG, JPEG, WebP or GIF picture.",
    ),
    Broken(
        "settings_domain_change",
        at("settings/domain/change"),
        {"domain": "a b"},
        "domain",
        "Enter a domain name such as pay.example.com.",
    ),
    Broken(
        "settings_taxes",
        at("settings/taxes"),
        {"tax_rate_id": "nobody"},
        "tax_rate_id",
        "The tax is not an active tax rate of this store.",
    ),
    Broken(
        "settings_documents",
        at("settings/documents"),
        {"invoice_prefix": "2027", "credit_note_prefix": "CN-"},
        "invoice_prefix",
        "The prefix of invoices must be letters, digits and . / _ -, begin with a letter or digit,"
        " and end with no digit.",
    ),
    Broken(
        "tax_rate_create",
        at("settings/taxes/new"),
        {"name": "Reverse", "category": "AE"},
        "reason",
        "Reason is required in the category AE.",
    ),
    Broken(
        "settings_account_codes",
        at("settings/account-codes"),
        {"fees": "1" * 21},
        "fees",
        "Processing fees is too long (maximum is 20 characters).",
    ),
    Broken("settings_waiting", at("settings/waiting"), {"hours": "100"}, "hours", HOURS),
    Broken("settings_waiting", at("settings/waiting"), {"hours": "soon"}, "hours", HOURS),
    Broken(
        "settings_approvals",
        at("settings/approvals"),
        {"above": "much"},
        "above",
        "Enter the amount as a number such as 1000 or 1000.00.",
    ),
    Broken(
        "settings_auto_swap",
        at("settings/auto-swap"),
        {"target_asset_id": "NOPE"},
        "target_asset_id",
        "Choose one of the stablecoins offered.",
    ),
    Broken(
        "platform_ask",
        at("platform/ask"),
        {"reason": "x" * 2001},
        "reason",
        "Reason is too long (maximum is 2,000 characters).",
    ),
    Broken("platform_account_create", World.platform, {"name": ""}, "name", "Name is required."),
    Broken("platform_account", World.account, {"name": ""}, "name", "Name can’t be blank."),
    Broken(
        "platform_link_create",
        lambda world: world.account("/link"),
        {"purpose": "kyb", "return_url": "x"},
        "return_url",
        "The return URL must be a valid URL.",
    ),
    Broken(
        "platform_attest",
        lambda world: world.account("/verification"),
        {**BUSINESS, "contact_email": "x"},
        "contact_email",
        "The email is not an email address.",
    ),
)
