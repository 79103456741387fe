"""Every page of the staff site in a real browser: no barrier for anybody, and nothing wider than a
phone."""

import uuid

import pytest
from django.contrib import admin
from playwright.sync_api import Page

from apps.chain.models import Address, UnmatchedTransfer
from apps.core import clock
from apps.core.models import RowFailure
from apps.staff.decisions.queues import Queue
from apps.staff.decisions.store_forms import FORMS
from apps.stores.auditing import audit
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.browser.judging import TURNED_TO
from tests.browser.test_staff_requests import enter, member
from tests.cast import Cast
from tests.make import paid
from tests.staff.test_roles import rows
from tests.whole import usually

UGLY = "اسم طويل 🧾 " + "w" * 80
LOOKS = {
    "wide": {"bypass_csp": True},
    "dark": {"dark": True, "bypass_csp": True},
    "phone": {"width": 390, "height": 800, "bypass_csp": True},
}
# The head of every page is judged with the first, and of a list its first rows: tests that ran
# before leave as many as a page shows.
LIKE_OTHERS = ("#header", "#result_list tbody tr:nth-child(n+4)")


def pages(cast: Cast) -> list[str]:
    """The list of every record, one record of each that has one, each decision, and each form. One
    template draws all lists: of those without a row the suite takes one."""
    made = rows(cast)
    stray = UnmatchedTransfer.objects.create(
        chain_id="sepolia",
        asset_id="SETH",
        address=Address.objects.order_by("created_at").last(),
        tx_hash="0x" + uuid.uuid4().hex * 2,
        log_index=0,
        from_address="0x" + "a1" * 20,
        amount_atomic=10**17,
        block_number=1,
        reason=UGLY,
        detected_at=clock.real_now(),
    )
    RowFailure.objects.get_or_create(
        job="payments.expire_due",
        row_id="a-row",
        defaults={
            "tries": 3,
            "error": UGLY,
            "since": clock.real_now(),
            "not_before": clock.real_now(),
        },
    )
    audit.record("subscription.cancellation_scheduled", store=cast.bakery.store, name=UGLY)
    about = f"store={cast.bakery.store.pk}&email={cast.alice.email}"
    found = [
        "",
        "proxies/",
        "sending/",
        "coins/",
        "jobs/",
        "trial-balance/",
        "search/",
        f"search/?q={UGLY[:9]}",
        "payments/withdrawal/ask/",
        *(f"stores/staffrequest/ask/{kind}/" for kind in FORMS),
        *(f"stores/staffrequest/ask/{kind}/?{about}" for kind in FORMS),
        f"stores/staffrequest/ask/cards/?{about}&card_funding_live=on&review=1",
        "stores/staffrequest/ask/cards/?pick=1&q=a",
        f"stores/store/{cast.bakery.store.pk}/history/",
    ]
    empty = list[str]()
    for model, item in admin.site._registry.items():
        page = f"{model._meta.app_label}/{model._meta.model_name}"
        row = model._base_manager.order_by("pk").values_list("pk", flat=True).first()
        if row is not None:
            found += [f"{page}/", f"{page}/{row}/change/"]
        else:
            empty.append(f"{page}/")
        if isinstance(item, Queue):
            found.append(f"{page}/{made[page]}/decide/")
    found += usually(short=empty[:1], whole=empty)
    return [*found, f"chain/unmatchedtransfer/{stray.pk}/resolve/"]


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_of_the_staff_site_is_a_barrier_or_too_wide(
    world: Cast, open_page: OpenPage, look: str
) -> None:
    store = world.bakery.store
    store.name = UGLY[:100]
    store.save(update_fields=["name"])
    paid(world.bakery.test, order_id=UGLY)
    page = enter(open_page, member("Sam"), **LOOKS[look])
    site = page.url.split("/admin/")[0] + "/admin/"
    wrong = [f"the head: {told}" for told in barriers(page)]
    wrong += [told for path in pages(world) for told in judged(page, site, path, look)]
    assert wrong == []


def judged(page: Page, site: str, path: str, look: str) -> list[str]:
    status, _ = page.evaluate(TURNED_TO, site + path)
    shoot(page, f"staff-{look}-{path.strip('/').replace('/', '-')[:60] or 'home'}")
    found = [f"{path}: {told}" for told in barriers(page, LIKE_OTHERS)]
    if status != 200:
        found.append(f"{path}: {status}")
    if overflow(page) > 0:
        found.append(f"{path}: {overflow(page)} px too wide")
    return found
