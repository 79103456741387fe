"""A bookkeeper who was invited reads a month in money, takes it away as files, and can't send
anything anywhere."""

import csv
import io
import re
from datetime import timedelta
from decimal import Decimal

from playwright.sync_api import expect

from apps.access.members import invitations
from apps.core import clock
from apps.payouts.models import Payout
from apps.stores.models import Role
from tests import make
from tests.browser.conftest import OpenPage, turn_to
from tests.browser.stories import Teller
from tests.cast import Cast

EMAIL = "dora@books.example"
CLOSED_TO_READERS = (
    "payouts/new",
    "payouts/destinations/wallet",
    "swaps/new",
    "api-keys/new",
    "team/invite",
)


def decimals(text: str) -> Decimal:
    """The figure of "€1,234.50" or "0.0055 ETH"."""
    return Decimal(re.sub(r"[^0-9.-]", "", text.replace("−", "-").split()[0]))


def invited(world: Cast, open_page: OpenPage) -> Teller:
    """By Alice, for the role; how somebody joins has a story of its own."""
    by = world.bakery.owner_access("test")
    at = clock.real_now()
    invitation = invitations.invite(by, email=EMAIL, role=Role.ACCOUNTANT, at=at)
    joined = invitations.accept_as_new(
        invitation, name="Dora", password="a long enough sentence", at=at
    )
    return Teller(open_page("/dashboard/statement", person=joined.user), "books", joined.user)


def sold(world: Cast) -> str:
    """Two sales, a refund and a payout of the month; the id of the payment that nobody refunded."""
    make.paid(world.bakery.test, amount="120.00", title="Wedding cake")
    kept = make.paid(world.bakery.test, amount="80.00", title="Bread for a week")
    make.payout(world.bakery.test, 10**16)
    return str(kept["id"])


def test_a_bookkeeper_reads_the_month_and_can_not_send_money(
    world: Cast, open_page: OpenPage
) -> None:
    payment = sold(world)
    dora = invited(world, open_page)
    read_the_statement(dora, world)
    find_no_way_to_send(dora, world, payment)


def read_the_statement(dora: Teller, world: Cast) -> None:
    page = dora.page
    today = clock.now(world.bakery.store, "test").date()
    dora.follow("This month")
    expect(page.get_by_role("link", name="This month")).to_have_attribute("aria-current", "true")
    dora.see_again("Statement", "statement")
    dora.reads("Wedding cake")
    page.get_by_label("From (UTC)").fill(str(today - timedelta(days=1)))
    page.get_by_label("To (UTC)").fill(str(today + timedelta(days=1)))
    dora.press("Apply")
    page.wait_for_url(re.compile(f"from={today - timedelta(days=1)}"))
    expect(page.get_by_role("link", name="This month")).not_to_have_attribute(
        "aria-current", "true"
    )

    foot = page.locator("tfoot")
    told = {
        name: decimals(foot.locator(f"[data-label={name}]").inner_text())
        for name in ("Amount", "Value")
    }
    with page.expect_download() as taken:
        dora.follow("Export CSV")
    rows = list(csv.DictReader(io.StringIO(taken.value.path().read_text("utf-8-sig"))))
    assert len(rows) == page.locator("tbody tr").count() == 3
    assert sum(Decimal(row["value"]) for row in rows) == told["Value"] > 0
    assert sum(Decimal(row["amount"]) for row in rows).quantize(Decimal("0.000001")) == told[
        "Amount"
    ].quantize(Decimal("0.000001"))
    assert {row["currency"] for row in rows} == {"EUR"} and all(row["rate"] for row in rows)


def find_no_way_to_send(dora: Teller, world: Cast, payment: str) -> None:
    page = dora.page
    count = Payout.objects.filter(store=world.bakery.store).count()
    for path in ("", "balances", "payouts", "payouts/destinations", f"payments/{payment}"):
        turn_to(page, f"/dashboard/{path}")
        expect(page.locator("main h1").first).to_be_visible()
        for name in ("Pay out", "Refund", "Add wallet", "New schedule"):
            sends = page.locator("main").get_by_role("link", name=name, exact=True)
            expect(
                sends.or_(page.locator("main").get_by_role("button", name=name, exact=True))
            ).to_have_count(0)
    token = page.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value") or ""
    for path in (*CLOSED_TO_READERS, f"payments/{payment}/refund"):
        answer = page.request.post(
            dora.base + path,
            form={"csrfmiddlewaretoken": token},
            headers={"Referer": dora.base},
            max_redirects=0,
        )
        assert answer.status == 403, path
    assert Payout.objects.filter(store=world.bakery.store).count() == count
