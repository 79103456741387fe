"""VAT numbers: their country's form, and what a registry was asked and answered; outages too."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from pytest_httpserver import HTTPServer

from apps.billing.models import Customer, VatCheck
from apps.billing.providers.local import LocalRegistry
from apps.billing.providers.vies import Vies
from apps.billing.services.vat_checks import check_due
from apps.core.errors import ProviderError
from tests import make
from tests.billing import records as r
from tests.billing.vies import REQUEST_IDENTIFIER, Registry
from tests.cast import Shop

FRENCH = "FR40303265045"
GERMAN = "DE136695976"
MONEGASQUE = "FR53000004605"
NORTHERN_IRISH = "XI980780684"


@pytest.fixture
def registry(httpserver: HTTPServer) -> Iterator[Registry]:
    entry = {
        "BACKEND": "apps.billing.providers.vies.Vies",
        "OPTIONS": {"base_url": httpserver.url_for("")},
    }
    providers = {**settings.PROVIDERS, "vat_numbers": {"live": [entry], "test": [entry]}}
    with override_settings(PROVIDERS=providers):
        yield Registry(httpserver)


def ask(shop: Shop, **fields: Any) -> Any:
    sent = {"email": "buyer@example.com", **fields}
    return shop.test.post("/billing/customers", {"customer": sent})


@pytest.mark.parametrize(
    ("country", "written", "stored"),
    [
        ("DE", "de 136 695 976", GERMAN),
        ("DE", "136695976", GERMAN),
        ("GR", "EL094259216", "EL094259216"),
        ("FR", FRENCH, FRENCH),
        ("CH", "CHE-107.787.577 IVA", "CHE107787577IVA"),
        ("MC", "FR 53 0000 04605", MONEGASQUE),
        ("MC", "53000004605", MONEGASQUE),
        ("GB", "XI 980 7806 84", NORTHERN_IRISH),
        ("GB", "GB 980 7806 84", "GB980780684"),
        (None, "XI980780684", NORTHERN_IRISH),
    ],
)
def test_a_number_is_stored_in_its_countrys_form(
    bakery: Shop, country: str | None, written: str, stored: str
) -> None:
    assert r.ok(ask(bakery, country=country, vat_number=written), 201)["vat_number"] == stored


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"country": "FR", "vat_number": GERMAN},
            "vat_number must begin with FR, as numbers of that country do",
        ),
        (
            {"country": "US", "vat_number": NORTHERN_IRISH},
            "vat_number must begin with US, as numbers of that country do",
        ),
        ({"country": "DE", "vat_number": "DE136695977"}, "vat_number is not a VAT number of DE"),
        (
            {"vat_number": "136695976"},
            "vat_number needs a country, in country or in the address",
        ),
        ({"country": "Germany"}, "country must be an ISO 3166-1 alpha-2 code"),
    ],
)
def test_a_number_that_cant_be_is_refused(
    bakery: Shop, fields: dict[str, str], sentence: str
) -> None:
    answer = ask(bakery, **fields)
    assert (answer.status_code, answer.json()["errors"]) == (422, [sentence])


def test_a_change_of_country_alone_is_held_against_the_number(bakery: Shop) -> None:
    made = r.customer(bakery.test, country="DE", vat_number=GERMAN)
    answer = bakery.test.patch(f"/billing/customers/{made['id']}", {"customer": {"country": "FR"}})
    assert answer.status_code == 422


def check(shop: Shop, customer_id: str) -> Any:
    return shop.test.post(f"/billing/customers/{customer_id}/vat_checks")


def test_question_and_answer_are_kept(bakery: Shop, registry: Registry) -> None:
    registry.valid[FRENCH] = "SA EXEMPLE"
    bakery.store.vat_number = GERMAN
    bakery.store.save(update_fields=["vat_number"])
    made = r.customer(bakery.test, country="FR", vat_number=FRENCH)
    told = r.ok(check(bakery.again(), made["id"]), 201)
    assert (told["result"], told["name"], told["address"]) == ("valid", "SA EXEMPLE", None)
    assert told["consultation_number"] == REQUEST_IDENTIFIER
    assert registry.asked == [
        {
            "countryCode": "FR",
            "vatNumber": FRENCH[2:],
            "requesterMemberStateCode": "DE",
            "requesterNumber": GERMAN[2:],
        }
    ]
    assert VatCheck.objects.get().answer["requestDate"] == "2026-11-29T22:00:00.000Z"
    listed = r.ok(bakery.test.get(f"/billing/customers/{made['id']}/vat_checks"))
    assert listed == [told]


@pytest.mark.parametrize("status", [200, 400, 500])
def test_an_outage_is_kept_and_changes_nothing(
    bakery: Shop, registry: Registry, status: int
) -> None:
    registry.away, registry.status = {"FR"}, status
    made = r.customer(bakery.test, country="FR", vat_number=FRENCH)
    told = r.ok(check(bakery, made["id"]), 201)
    assert told["result"] == "unavailable" and told["error"]
    assert Customer.objects.get(pk=made["id"]).vat_number == FRENCH


def test_a_customer_without_a_number_cant_be_asked_about(bakery: Shop) -> None:
    answer = check(bakery, r.customer(bakery.test)["id"])
    assert answer.status_code == 422
    assert "The customer has no VAT number of an EU country" in str(answer.json())


@pytest.mark.parametrize(
    "word",
    ["MS_UNAVAILABLE", "SERVICE_UNAVAILABLE", "TIMEOUT", "MS_MAX_CONCURRENT_REQ", "INVALID_INPUT"],
)
def test_each_of_the_registrys_errors_is_no_answer(httpserver: HTTPServer, word: str) -> None:
    registry = Registry(httpserver, error=word)
    with pytest.raises(ProviderError, match=word):
        Vies(registry.server.url_for("")).check(FRENCH, "")


@pytest.mark.parametrize("answer", [[], {}, {"valid": True, "countryCode": "FR"}, {"valid": 1}])
def test_an_answer_that_is_none_proves_nothing(httpserver: HTTPServer, answer: Any) -> None:
    httpserver.expect_request("/check-vat-number").respond_with_json(answer)
    with pytest.raises(ProviderError):
        Vies(httpserver.url_for("")).check(FRENCH, "")


@pytest.mark.parametrize("kind", ["vies", "local"])
def test_both_registries_keep_their_promise(httpserver: HTTPServer, kind: str) -> None:
    """One number is somebody's, one is nobody's, one country doesn't answer."""
    registry = Registry(httpserver, valid={FRENCH: "SA EXEMPLE"}, away={"DE"})
    adapter = Vies(registry.server.url_for("")) if kind == "vies" else LocalRegistry()
    assert adapter.check(FRENCH, GERMAN).is_valid
    assert adapter.check(FRENCH, GERMAN).consultation_number
    assert not adapter.check("FR00300076965", "").is_valid
    with pytest.raises(ProviderError):
        adapter.check("DE999999999", "")


def due_now() -> None:
    Customer.objects.filter(vat_check_at__isnull=False).update(vat_check_at="2020-01-01T00:00Z")
    check_due()


def results() -> list[str]:
    return list(VatCheck.objects.order_by("created_at", "pk").values_list("result", flat=True))


def test_a_number_is_asked_about_when_it_is_saved_and_not_again(
    bakery: Shop, registry: Registry
) -> None:
    registry.valid[FRENCH] = "SA EXEMPLE"
    made = r.customer(bakery.test, country="FR", vat_number=FRENCH)
    due_now()
    due_now()
    assert results() == ["valid"] and len(registry.asked) == 1
    path = f"/billing/customers/{made['id']}"
    r.ok(bakery.test.patch(path, {"customer": {"name": "Another"}}))
    due_now()
    assert len(registry.asked) == 1, "the number is the same"
    r.ok(bakery.test.patch(path, {"customer": {"country": "DE", "vat_number": GERMAN}}))
    due_now()
    assert results() == ["valid", "invalid"]
    r.ok(bakery.test.patch(path, {"customer": {"vat_number": None}}))
    assert Customer.objects.get(pk=made["id"]).vat_check_at is None


def test_an_outage_is_asked_about_again_a_few_times(bakery: Shop, registry: Registry) -> None:
    registry.away = {"FR"}
    made = r.customer(bakery.test, country="FR", vat_number=FRENCH)
    for _ in range(9):
        due_now()
    assert results() == ["unavailable"] * 5
    assert Customer.objects.get(pk=made["id"]).vat_check_at is None
    registry.away.clear()


def reverse_charged(shop: Shop, customer_id: str) -> Any:
    """A draft without VAT for a business in another EU country."""
    return r.draft(shop.test, customer_id=customer_id)


@pytest.fixture
def automatic(bakery: Shop) -> Shop:
    bakery.store.country = "DE"
    bakery.store.vat_number = GERMAN
    bakery.store.save(update_fields=["country", "vat_number"])
    body = {"is_automatic": True, "supply_type": "service"}
    r.ok(bakery.test.patch("/billing/tax_settings", {"tax_settings": body}))
    return bakery.again()


def test_before_reverse_charge_a_registry_is_asked_and_a_refused_number_isnt_billed_so(
    automatic: Shop, registry: Registry
) -> None:
    made = r.customer(automatic.test, country="FR", vat_number=FRENCH)
    drafted = reverse_charged(automatic, made["id"])
    assert drafted["tax_case"] == "reverse_charge"
    answer = r.act(automatic.test, drafted["id"], "finalize")
    assert answer.status_code == 422 and "aren't those it was saved with" in str(answer.json())
    assert results() == ["invalid"]


def test_an_answer_proves_for_a_month_and_an_outage_blocks_nothing(
    automatic: Shop, registry: Registry
) -> None:
    registry.valid[FRENCH] = "SA EXEMPLE"
    made = r.customer(automatic.test, country="FR", vat_number=FRENCH)
    for _ in range(2):
        drafted = reverse_charged(automatic, made["id"])
        r.ok(r.act(automatic.test, drafted["id"], "finalize"))
    assert results() == ["valid"]
    make.advance(automatic.test, 31 * r.DAY)
    registry.away = {"FR"}
    drafted = reverse_charged(automatic, made["id"])
    assert r.ok(r.act(automatic.test, drafted["id"], "finalize"))["tax_case"] == "reverse_charge"
    assert results() == ["valid", "unavailable"]


def test_what_relies_on_no_number_asks_nobody(automatic: Shop, registry: Registry) -> None:
    made = r.customer(automatic.test, country="DE", vat_number=GERMAN)
    r.ok(r.act(automatic.test, r.draft(automatic.test, customer_id=made["id"])["id"], "finalize"))
    assert not registry.asked


def test_a_cycle_relies_on_an_answer_that_is_asked_for_a_day_before_it(
    automatic: Shop, registry: Registry
) -> None:
    registry.valid[FRENCH] = "SA EXEMPLE"
    owner = r.customer(automatic.test, country="FR", vat_number=FRENCH)
    due_now()
    made = r.subscribe(
        automatic.test, customer_id=owner["id"], price_id=r.price(automatic.test)["id"]
    )
    (first,) = r.invoices_of(automatic.test, made["id"])
    assert first["tax_case"] == "reverse_charge" and results() == ["valid"]
    customers = Customer.objects.filter(pk=owner["id"])
    planned = customers.values_list("vat_check_at", flat=True).get()
    begins = r.subscription(automatic.test, made["id"])["current_period_end"]
    assert planned == datetime.fromisoformat(begins) - timedelta(days=1)
    registry.valid.clear()
    due_now()
    make.advance(automatic.test, 32 * r.DAY)
    _, second = r.invoices_of(automatic.test, made["id"])
    assert results() == ["valid", "invalid"]
    assert second["tax_case"] == "domestic"
    assert customers.values_list("vat_check_at", flat=True).get() is None
