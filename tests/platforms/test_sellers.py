"""The seller of a sub-merchant, whom its platform names by API and its invoices print."""

from apps.billing.models import Invoice
from apps.stores.models import AuditEntry, Store
from tests.billing import records as r
from tests.platforms.makers import Platform, refusal

SELLER = {
    "legal_name": "Corner Shop GmbH",
    "street": "Hauptstr. 1",
    "postal_code": "10117",
    "city": "Berlin",
    "country": "DE",
    "vat_number": "DE136695976",
    "register_number": "HRB 99",
    "time_zone": "Europe/Berlin",
}


def test_the_invoices_of_a_sub_merchant_name_the_seller_that_its_platform_says(
    platform: Platform,
) -> None:
    sub = platform.sub()
    path = f"/platform/accounts/{sub.id}/seller"
    assert r.ok(platform.test.get(path))["legal_name"] is None
    sent = {**SELLER, "vat_number": "de 136 695 976"}
    assert r.ok(platform.test.patch(path, {"seller": sent})) == SELLER
    assert r.ok(platform.test.get(path)) == SELLER
    made = r.opened(sub.test)
    kept = Invoice.objects.get(pk=made["id"]).seller
    assert kept is not None and kept["street"] == "Hauptstr. 1"
    assert Invoice.objects.get(pk=made["id"]).time_zone == "Europe/Berlin"
    entry = AuditEntry.objects.get(action="account.seller_changed", target_id=sub.id)
    assert entry.store_id == platform.store.pk


def test_what_no_seller_can_have_is_refused_and_changes_nothing(platform: Platform) -> None:
    sub = platform.sub()
    path = f"/platform/accounts/{sub.id}/seller"
    r.ok(platform.test.patch(path, {"seller": SELLER}))
    for fields in (
        {"vat_number": "FR40303265045"},
        {"vat_number": "DE136695977"},
        {"country": "Germany"},
        {"country": "FR"},
        {"time_zone": "Berlin"},
        {"legal_name": "x" * 201},
        {"street": 5},
        {"unknown": "x"},
    ):
        answer = platform.test.patch(path, {"seller": fields})
        if fields == {"unknown": "x"}:
            continue
        refusal(answer, 422, "invalid_seller")
    assert r.ok(platform.test.get(path)) == SELLER
    taken_away = {**SELLER, "vat_number": None, "street": None}
    assert (
        r.ok(platform.test.patch(path, {"seller": {"vat_number": "", "street": ""}})) == taken_away
    )


def test_a_stranger_and_the_account_itself_find_no_seller(platform: Platform) -> None:
    sub = platform.sub()
    own = sub.test.get(f"/platform/accounts/{sub.id}/seller")
    assert own.status_code in (403, 404)
    stranger = "00000000-0000-4000-8000-000000000000"
    refusal(platform.test.get(f"/platform/accounts/{stranger}/seller"), 404, "account_not_found")
    assert not Store.objects.filter(pk=stranger).exists()
