"""Pages of a store without anything say so in one pattern, and lead on to what there is to do."""

from apps.core import acting
from apps.core.acting import Actor, ActorKind
from apps.core.models import Mode
from apps.stores.auditing import audit
from apps.stores.models import Store
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.platforms.conftest import platform_of

# path, what is missing
EMPTY = (
    ("agents", "agents"),
    ("agents/mandates", "mandates"),
    ("balances", "balance"),
    ("customers", "customers"),
    ("events", "events"),
    ("invoices", "invoices"),
    ("payments", "payments"),
    ("payment-links", "payment links"),
    ("payouts", "payouts"),
    ("payouts/batches", "mass payouts"),
    ("payouts/destinations", "destinations"),
    ("payouts/schedules", "schedules"),
    ("products", "products"),
    ("refunds", "refunds"),
    ("reports", "reports"),
    ("requests", "requests"),
    ("statement", "entries"),
    ("subscriptions", "subscriptions"),
    ("swaps", "swaps"),
    ("webhooks", "endpoints"),
)


def test_a_page_without_anything_says_so_in_its_mode(cast: Cast) -> None:
    browser = Browser(cast.charlie)
    for path, noun in EMPTY:
        assert f"No test {noun} yet" in text(browser.get(path)), path
    browser.switch(Mode.LIVE)
    for path, noun in EMPTY:
        assert f"No {noun} yet" in text(browser.get(path)), path


# path, where it leads
LEADS = (
    ("balances", "payments/new"),
    ("payouts", "payments/new"),
    ("payouts/new", "payouts/destinations"),
    ("point-of-sale/sales", "point-of-sale"),
    ("refunds", "payments/new"),
    ("statement", "payments/new"),
    ("swaps", "payments/new"),
    ("subscriptions", "products/new"),
    ("subscriptions/new", "products/new"),
    ("payouts/destinations", "payouts/destinations/bank"),
    ("payouts/schedules/new", "payouts/destinations/bank"),
    ("settings/approvals", "team/invite"),
)


def test_a_page_without_anything_leads_to_what_comes_first(cast: Cast) -> None:
    browser = Browser(cast.charlie)
    for path, next_path in LEADS:
        page = text(browser.get(path)).partition("<main")[2]
        assert f'href="/dashboard/{next_path}"' in page, path
        if path in ("payouts", "refunds"):
            assert "Take a test payment first." in page, path


def test_a_platform_without_merchants_has_no_figures_and_leads_to_the_first(cast: Cast) -> None:
    Store.objects.filter(pk=cast.strangers.store.pk).update(is_platform=True)
    page = text(Browser(cast.charlie).get("platform")).partition("<main")[2]
    assert "No sub-merchants yet" in page and "Fees earned by coin" not in page
    assert 'href="/dashboard/platform/accounts/new"' in page
    platform_of(cast.strangers).sub()
    page = text(Browser(cast.charlie).get("platform"))
    assert "No sub-merchants yet" not in page and "Fees earned by coin" in page


def test_an_endpoint_without_deliveries_leads_to_a_test_event(cast: Cast) -> None:
    hook = {"url": "https://1.1.1.1/hook", "subscribed_events": ["payment_intent.created"]}
    made = cast.strangers.test.post("/webhook_endpoints", {"webhook_endpoint": hook}).json()
    page = text(Browser(cast.charlie).get(f"webhooks/{made['id']}"))
    empty = page.partition("No deliveries yet")[2].partition("</section>")[0]
    assert 'href="?tool=test#tool"' in empty


def test_the_last_steps_change_to_live_mode(cast: Cast) -> None:
    browser = Browser(cast.charlie)
    assert text(browser.get("")).count(">Switch to live mode</button>") == 2
    browser.post("mode", mode=Mode.LIVE)
    assert "Switch to live mode" not in text(browser.get(""))


def test_the_only_coin_cannot_be_stopped_and_a_coin_of_swaps_is_named(cast: Cast) -> None:
    page = text(Browser(cast.charlie).get("settings/assets"))
    assert "At least one is required" in page and "Stop accepting" not in page
    assert "Swaps and payouts only" in page


def test_mandates_and_x402_say_what_is_missing(cast: Cast) -> None:
    browser = Browser(cast.charlie)
    assert "Your store has no authorization provider" in text(browser.get("agents/mandates"))
    x402 = text(browser.get("agents/x402"))
    assert "has no coin that supports signed payments" not in x402, "a simulated token is for tests"
    browser.post("mode", mode=Mode.LIVE)
    x402 = text(browser.get("agents/x402"))
    assert "USDC" in x402 and "Switch to live mode" not in x402


def test_a_store_made_by_a_command_was_made_by_tillgate(cast: Cast) -> None:
    store = cast.strangers.store
    with acting.acting(Actor(ActorKind.COMMAND, name="create_store (root)")):
        audit.record("store.created", store=store, target=store)
    page = text(Browser(cast.charlie).get("audit-log"))
    assert 'Tillgate</bdi> <span class="badge plain">System</span>' in page
    assert "<dt>Command</dt><dd><bdi>create_store (root)</bdi></dd>" in page
