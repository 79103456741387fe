"""/payment_links: links and their buttons made by an integration."""

import uuid
from typing import Any

import pytest
from django.test import Client

from apps.links.models import PaymentLink
from tests.cast import Cast, Shop
from tests.links.makers import bought

pytestmark = pytest.mark.django_db
MUG: dict[str, Any] = {"title": "Mug", "currency": "EUR", "amount_cents": 1200}
TIPS: dict[str, Any] = {
    "title": "Tips",
    "currency": "EUR",
    "min_amount_cents": 200,
    "suggested_amounts_cents": [500, 1000],
}


def made(shop: Shop, body: dict[str, Any] = MUG, key: str | None = None) -> dict[str, Any]:
    answer = shop.test.post("/payment_links", {"payment_link": body}, key=key)
    assert answer.status_code == 201, answer.content
    document: dict[str, Any] = answer.json()
    return document


def test_a_link_is_made_and_its_page_sells(bakery: Shop) -> None:
    link = made(bakery, {**MUG, "stock": 3, "customer_email": "optional"})

    assert link["status"] == "active"
    assert (link["amount_cents"], link["stock"], link["stock_left"]) == (1200, 3, 3)
    page = Client().get(link["url"].removeprefix("http://testserver"))
    assert page.status_code == 200
    assert "12.00" in page.content.decode()

    bought(bakery, PaymentLink.objects.get(pk=link["id"]))
    now = bakery.test.get(f"/payment_links/{link['id']}").json()
    figures = ("completed_count", "completed_cents", "open_count", "stock_left")
    assert [now[name] for name in figures] == [1, 1200, 0, 2]


def test_a_key_makes_a_link_once_and_for_each_caller(cast: Cast) -> None:
    bakery = cast.bakery
    key = uuid.uuid4().hex
    first = made(bakery, key=key)

    assert made(bakery, {**MUG, "title": "Cup"}, key)["id"] == first["id"]
    assert made(bakery, key="x" * 255)["id"] != first["id"]
    assert made(cast.strangers, key=key)["id"] != first["id"]
    assert made(bakery)["id"] != made(bakery)["id"]


def test_a_key_that_is_sent_again_is_answered_with_its_link_by_whichever_secret(
    bakery: Shop,
) -> None:
    key = uuid.uuid4().hex
    first = made(bakery, key=key)
    other = bakery.with_scopes("payments:write")
    for caller, body in ((bakery.test, {}), (other, {"payment_link": MUG})):
        again = caller.post("/payment_links", body, key=key)
        assert (again.status_code, again.json()["id"]) == (201, first["id"])
        assert again.headers["Idempotent-Replayed"] == "true"
    new = bakery.test.post("/payment_links", {"payment_link": MUG}, key=uuid.uuid4().hex)
    assert "Idempotent-Replayed" not in new.headers


def test_a_customer_chooses_between_the_limits(bakery: Shop) -> None:
    link = made(bakery, TIPS)

    assert link["amount_cents"] is None
    assert link["suggested_amounts_cents"] == [500, 1000]
    assert link["max_amount_cents"] == 10_000_000_000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"title": None}, "title is required"),
        ({"title": " "}, "title can't be blank"),
        (
            {"currency": "XAU"},
            "currency must be one of USD, EUR, GBP, HKD, SGD, JPY, DKK, CHF, SEK, NOK",
        ),
        ({"amount_cents": 0}, "amount_cents must be at least 1"),
        ({"amount_cents": "12"}, "amount_cents must be an integer"),
        ({"currency": "JPY", "amount_cents": 1250}, "amount_cents must be a whole number in JPY"),
        (
            {"min_amount_cents": 100},
            "min_amount_cents is only for links whose amount the customer chooses",
        ),
        (
            {"amount_cents": None, "min_amount_cents": 500, "max_amount_cents": 100},
            "max_amount_cents must be at least 5.00",
        ),
        (
            {"amount_cents": None, "min_amount_cents": 500, "suggested_amounts_cents": [100]},
            "suggested_amounts_cents must be between 5.00 and 100000000.00",
        ),
        (
            {"amount_cents": None, "suggested_amounts_cents": [1, 2, 3, 4, 5]},
            "suggested_amounts_cents has too many items (maximum is 4)",
        ),
        ({"stock": 0}, "stock must be at least 1"),
        ({"ends_at": "2020-01-01T00:00:00Z"}, "ends_at must be in the future"),
        ({"ends_at": "tomorrow"}, "ends_at must be an ISO 8601 date-time with a time zone"),
        ({"success_url": "ftp://example.com"}, "success_url must be a valid URL"),
        ({"customer_email": "maybe"}, "customer_email must be one of no, optional, required"),
    ],
)
def test_a_broken_rule_is_told_by_the_name_of_its_field(
    bakery: Shop, change: dict[str, Any], sentence: str
) -> None:
    answer = bakery.test.post("/payment_links", {"payment_link": {**MUG, **change}})

    assert (answer.status_code, answer.json()) == (422, {"errors": [sentence]})
    assert not PaymentLink.objects.exists()


def test_a_change_is_for_whoever_pays_from_now_on(bakery: Shop) -> None:
    link = made(bakery)
    here = f"/payment_links/{link['id']}"

    dearer = bakery.test.patch(here, {"payment_link": {"amount_cents": 1500, "stock": 5}}).json()
    assert (dearer["amount_cents"], dearer["stock"], dearer["title"]) == (1500, 5, "Mug")
    free = bakery.test(
        "PATCH", here, {"payment_link": {"amount_cents": None, "stock": None}}
    ).json()
    assert (free["amount_cents"], free["min_amount_cents"], free["stock"]) == (None, 1, None)
    fixed = bakery.test.patch(here, {"payment_link": {"amount_cents": 900}}).json()
    assert (fixed["amount_cents"], fixed["min_amount_cents"]) == (900, None)
    refused = bakery.test.patch(here, {"payment_link": {"min_amount_cents": 100}})
    assert refused.status_code == 422
    sold = made(bakery, {**MUG, "stock": 2})
    bought(bakery, PaymentLink.objects.get(pk=sold["id"]))
    bought(bakery, PaymentLink.objects.get(pk=sold["id"]))
    less = bakery.test.patch(f"/payment_links/{sold['id']}", {"payment_link": {"stock": 1}})
    assert (less.status_code, less.json()) == (422, {"errors": ["stock must be at least 2"]})


def test_a_link_is_paused_resumed_and_archived_for_good(bakery: Shop) -> None:
    link = made(bakery)
    here = f"/payment_links/{link['id']}"

    def state(action: str) -> str:
        return str(bakery.test.post(f"{here}/{action}").json()["status"])

    assert [state("pause"), state("pause"), state("resume")] == ["paused", "paused", "active"]
    assert [state("archive"), state("archive")] == ["archived", "archived"]
    for answer in (
        bakery.test.post(f"{here}/pause"),
        bakery.test.post(f"{here}/resume"),
        bakery.test.patch(here, {"payment_link": {"title": "Cup"}}),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "link_archived")


def test_the_list_has_one_query_for_the_figures_of_all(
    bakery: Shop, django_assert_max_num_queries: Any
) -> None:
    links = [made(bakery, {**MUG, "title": f"Mug {number}"}) for number in range(6)]
    bakery.test.post(f"/payment_links/{links[0]['id']}/pause")
    bakery.test.post(f"/payment_links/{links[1]['id']}/archive")

    with django_assert_max_num_queries(8):
        page = bakery.test.get("/payment_links?per_page=5").json()
    assert [row["title"] for row in page["data"]] == [f"Mug {number}" for number in (5, 4, 3, 2, 1)]
    assert page["meta"]["total"] == 6

    def titles(status: str) -> list[str]:
        rows = bakery.test.get(f"/payment_links?status={status}").json()["data"]
        return [row["title"] for row in rows]

    assert (titles("paused"), titles("archived")) == (["Mug 0"], ["Mug 1"])
    assert titles("active") == [f"Mug {number}" for number in (5, 4, 3, 2)]


def test_a_button_is_markup_for_a_page(bakery: Shop) -> None:
    link = made(bakery)
    button = bakery.test.get(f"/payment_links/{link['id']}/button?language=de&verb=buy").json()
    assert button["html"].startswith(f'<a href="{link["url"]}" lang="de">')
    assert "Mit Krypto kaufen" in button["html"]
    assert button["form_html"] is None
    tips = made(bakery, TIPS)
    form = bakery.test.get(f"/payment_links/{tips['id']}/button").json()["form_html"]
    assert 'min="2.00"' in form


def test_links_of_others_and_of_the_other_mode_are_unknown(cast: Cast) -> None:
    bakery = cast.bakery
    id = made(bakery)["id"]
    for caller in (cast.strangers.test, bakery.live):
        for answer in (
            caller.get(f"/payment_links/{id}"),
            caller.get(f"/payment_links/{id}/button"),
            caller.patch(f"/payment_links/{id}", {"payment_link": {"title": "Mine"}}),
            caller.post(f"/payment_links/{id}/archive"),
        ):
            assert (answer.status_code, answer.json()["error"]) == (404, "Payment link not found")
    assert PaymentLink.objects.get().archived_at is None
