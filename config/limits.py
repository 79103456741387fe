"""Limits: tokens per minute and the burst, per policy and mode; and emails to one person in a
day."""

from typing import NamedTuple

LIMITS: dict[str, dict[str, tuple[int, int]]] = {
    "reads": {"live": (6000, 600), "test": (6000, 600)},
    "writes": {"live": (1200, 300), "test": (1200, 300)},
    "public_writes": {"live": (600, 200), "test": (600, 200)},
    "payment_create": {"live": (1200, 200), "test": (300, 100)},
    "publishable_address": {"live": (120, 60), "test": (60, 30)},
    "payouts": {"live": (300, 200), "test": (300, 200)},
    "refunds": {"live": (300, 200), "test": (300, 200)},
    "swaps": {"live": (120, 60), "test": (120, 60)},
    "test_clock": {"live": (120, 60), "test": (120, 60)},
    "pdf": {"live": (600, 200), "test": (600, 200)},
    "checkout": {"live": (300, 60), "test": (300, 60)},
    "checkout_address": {"live": (6000, 600), "test": (6000, 600)},
    "new_quotes": {"live": (6, 4), "test": (6, 4)},
    "new_quotes_address": {"live": (30, 15), "test": (30, 15)},
    "sent": {"live": (10, 6), "test": (10, 6)},
    "sent_address": {"live": (30, 15), "test": (30, 15)},
    "receipts": {"live": (3, 3), "test": (3, 3)},
    "receipts_address": {"live": (15, 10), "test": (15, 10)},
    "refund_links": {"live": (3, 3), "test": (3, 3)},
    "refund_links_address": {"live": (15, 10), "test": (15, 10)},
    "refund_addresses": {"live": (6, 6), "test": (6, 6)},
    "refund_addresses_address": {"live": (30, 15), "test": (30, 15)},
    "oauth_token": {"live": (300, 60), "test": (300, 60)},
    "oauth_authorize": {"live": (60, 20), "test": (60, 20)},
    "dashboard": {"live": (600, 120), "test": (600, 120)},
    "dashboard_writes": {"live": (240, 120), "test": (240, 120)},
    "visitor_writes": {"live": (120, 60), "test": (120, 60)},
    # Seconds of the processor, which opening a file may last.
    "uploads": {"live": (20, 60), "test": (20, 60)},
    "upload_rows": {"live": (100, 50_000), "test": (100, 50_000)},
    "webhook_tests": {"live": (10, 40), "test": (10, 40)},
    "webhook_tests_host": {"live": (60, 120), "test": (60, 120)},
    "redeliveries": {"live": (60, 60), "test": (60, 60)},
    "redeliveries_host": {"live": (600, 300), "test": (600, 300)},
    "sign_in": {"live": (10, 5), "test": (10, 5)},
    "agentic": {"live": (600, 100), "test": (120, 40)},
    # Of one payment's x402_url.
    "x402_signatures": {"live": (30, 10), "test": (30, 10)},
    # Prices that are looked at, which leave nothing behind.
    "x402_offers": {"live": (1200, 200), "test": (300, 100)},
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
# What one request takes of a bucket. A long way forward runs more than a short one.
TEST_CLOCK_DAYS_PER_TOKEN = 31
# A read takes one token, and one for each of so many rows that it may answer with, rows before its
# page, and days that it adds up; a search takes more.
READ_ROWS_PER_TOKEN = 50
READ_SKIPPED_ROWS_PER_TOKEN = 5000
READ_DAYS_PER_TOKEN = 31
READ_TOKENS_PER_SEARCH = 5
READ_TOKENS_MAX = 60
# A file that is there takes one token, one that has to be drawn so many.
PDF_TOKENS_PER_DRAWING = 10


class EmailLimit(NamedTuple):
    """Emails of these templates to one mailbox in 24 hours: in one store's name, and in all. Of
    one that `is_never_silent`, an email an hour comes even then."""

    templates: tuple[str, ...]
    by_store: int
    in_all: int
    is_never_silent: bool = False


# What others can have sent to an address. An email that is in no line, such as a notice about
# an account, is never dropped.
EMAIL_LIMITS: dict[str, EmailLimit] = {
    "password_reset": EmailLimit(("password_reset",), 10, 10, is_never_silent=True),
    "email_change": EmailLimit(("email_change",), 10, 10, is_never_silent=True),
    "invitation": EmailLimit(("invitation",), 10, 10, is_never_silent=True),
    "sign_up": EmailLimit(
        ("sign_up_code", "sign_up_known", "sign_up_invitation"), 10, 10, is_never_silent=True
    ),
    "destination_named": EmailLimit(("destination_named",), 20, 20, is_never_silent=True),
    "new_sign_in": EmailLimit(("new_sign_in",), 20, 20),
    "notification": EmailLimit(("notification", "daily_summary"), 100, 200),
    "platform_fee_raised": EmailLimit(("platform_fee_raised",), 100, 100),
    "refund_address": EmailLimit(("refund_address",), 5, 20),
    "customer": EmailLimit(
        (
            "invoice_open",
            "invoice_due_soon",
            "invoice_overdue",
            "invoice_receipt",
            "credit_note",
            "subscription_past_due",
            "subscription_recovered",
            "subscription_canceled",
            "portal_link",
        ),
        30,
        100,
    ),
    "payment_receipt": EmailLimit(("payment_receipt",), 10, 20),
}
# Beside what stores send in their name: these leave after emails about accounts.
BULK_EMAILS = frozenset({"notification", "daily_summary", "webhook_endpoint_off", "review_outcome"})


class StoreEmails(NamedTuple):
    """Live emails in a store's name that leave in a day: of a store that opened today, more for
    each day of its age, at most."""

    first: int
    per_day_of_age: int
    most: int


# By whether the business was verified. More wait, up to a week of them.
STORE_EMAILS: dict[bool, StoreEmails] = {
    False: StoreEmails(50, 10, 500),
    True: StoreEmails(1000, 200, 20_000),
}
STORE_EMAILS_PER_MINUTE = 60
STORE_EMAILS_DAYS_AHEAD = 7
# Emails of a store's test mode in a day, sent or shown.
TEST_EMAILS_PER_DAY = 500
