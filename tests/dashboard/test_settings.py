"""The store's settings: what members see and managers change, what is refused, and what an uploaded
logo becomes."""

import io
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image, PngImagePlugin
from pypdf import PdfReader

from apps.assets.models import Asset
from apps.assets.selectors import accepted_assets
from apps.core.redis import buckets
from apps.stores.branding import contrast, ink_on
from apps.stores.models import AuditEntry, Role, Store
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, text
from tests.make import payment

CHECKOUT = {
    "settlement_currency": "USD",
    "support_email": "help@bakery.example",
    "customer_pays_fee": "on",
}


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Any) -> None:
    """Uploads of a test stay with it."""
    storages = {**settings.STORAGES}
    storages["default"] = {
        "BACKEND": storages["default"]["BACKEND"],
        "OPTIONS": {"location": str(tmp_path)},
    }
    settings.STORAGES = storages


def store(cast: Cast) -> Store:
    return Store.objects.get(pk=cast.bakery.store.pk)


def picture(
    size: tuple[int, int] = (60, 30), kind: str = "PNG", mode: str = "RGB", **options: Any
) -> bytes:
    made = io.BytesIO()
    Image.new(mode, size, "#8a2be2").save(made, kind, **options)
    return made.getvalue()


def upload(browser: Browser, content: bytes, name: str = "logo.png") -> Any:
    return browser.post("settings/logo", logo=SimpleUploadedFile(name, content))


def test_checkout_settings_are_saved_and_hold_for_new_payments(cast: Cast) -> None:
    assert Browser(cast.alice).post("settings", **CHECKOUT).status_code == 303
    saved = store(cast)
    assert (saved.settlement_currency, saved.support_email) == ("USD", "help@bakery.example")
    assert (
        saved.customer_pays_fee and not saved.accept_overpayments and not saved.accept_underpayments
    )
    assert payment(cast.bakery.test)["customer_pays_fee"] is True


DETAILS = {
    "name": "Bäckerei Alice",
    "street": "Hauptstraße 1",
    "postal_code": "10115",
    "city": "Berlin",
    "country": "DE",
    "website": "https://bakery.example",
}


def test_a_store_is_renamed_and_gets_the_sellers_address(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert browser.post("settings/store", **DETAILS).status_code == 303
    saved = store(cast)
    assert {name: getattr(saved, name) for name in DETAILS} == DETAILS
    assert "Bäckerei Alice" in text(browser.get("settings/store"))
    entry = AuditEntry.objects.get(action="store.changed")
    assert entry.details["name"] == ["Alice's Bakery", "Bäckerei Alice"]
    browser.post("settings/store", name="Bäckerei Alice")
    assert store(cast).street == store(cast).country == ""


def test_only_owners_change_who_the_seller_is(cast: Cast) -> None:
    Browser(cast.alice).post("settings/store", **DETAILS, legal_name="Alice GmbH")
    dora = person("dora")
    join(cast.bakery.store, dora, Role.ADMIN)
    admin = Browser(dora)
    page = text(admin.get("settings/store"))
    assert "are changed by owners only" in page
    assert admin.post("settings/store", name="Bakery", time_zone="Europe/Berlin").status_code == 303
    saved = store(cast)
    assert (saved.name, saved.time_zone) == ("Bakery", "Europe/Berlin")
    assert (saved.legal_name, saved.city, saved.country) == ("Alice GmbH", "Berlin", "DE")
    for change in ({"legal_name": "Dora GmbH"}, {"vat_number": "DE136695976"}, {"city": "Bonn"}):
        refused = admin.post("settings/store", **{**DETAILS, **change})
        assert refused.status_code == 422 and "Only owners" in text(refused), change
    assert store(cast).legal_name == "Alice GmbH"


def test_the_sites_that_may_embed_are_kept_once_each(cast: Cast) -> None:
    typed = "https://Shop.example/\nhttp://localhost:3000\n https://shop.example "
    assert Browser(cast.alice).post("settings/embedding", origins=typed).status_code == 303
    assert store(cast).embed_origins == ["https://shop.example", "http://localhost:3000"]
    assert "Any site can embed" not in text(Browser(cast.alice).get("settings/embedding"))
    assert Browser(cast.alice).post("settings/embedding", origins="").status_code == 303
    assert store(cast).embed_origins == []


NO_SITES = (
    "*",
    "https://*.example",
    "http://shop.example",
    "https://a.example/path",
    "shop.example",
    "https://a.example;script-src",
    "https://user@a.example",
    "https://-a.example",
    "\n".join(f"https://a{number}.example" for number in range(21)),
)


def test_what_is_no_site_is_not_listed(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for typed in NO_SITES:
        refused = browser.post("settings/embedding", origins=typed)
        assert refused.status_code == 422 and b'id="origins-error"' in refused.content, typed
    assert store(cast).embed_origins == []


def test_tolerances_and_the_fee_are_shown_but_not_a_merchants_to_change(cast: Cast) -> None:
    shown = text(Browser(cast.alice).get("settings"))
    assert "From 0.5% under to 1% over" in shown and "Otherwise 1% is deducted" in shown
    Browser(cast.alice).post(
        "settings", **CHECKOUT, underpayment_tolerance_bps="9000", fee_fraction="0"
    )
    assert store(cast).underpayment_tolerance_bps == 50 and store(cast).fee_fraction > 0


def test_a_developer_sees_settings_and_may_not_change_them(cast: Cast) -> None:
    browser = Browser(cast.bob)
    for path in (
        "settings",
        "settings/store",
        "settings/embedding",
        "settings/assets",
        "settings/branding",
    ):
        assert "Owners and admins can change these" in text(browser.get(path))
        assert browser.post(path, **CHECKOUT).status_code == 403
    assert upload(browser, picture()).status_code == 403


def test_coins_are_taken_and_left_but_the_last_one_stays(cast: Cast) -> None:
    browser = Browser(cast.alice)
    where = (cast.bakery.store.pk, "test")
    for asset in accepted_assets(*where)[1:]:
        assert browser.post("settings/assets", asset_id=asset.pk, to="refused").status_code == 303
    (last,) = accepted_assets(*where)
    answer = browser.post("settings/assets", asset_id=last.pk, to="refused")
    assert answer.status_code == 422 and "The last accepted asset can’t be removed." in text(answer)
    assert browser.post("settings/assets", asset_id=last.pk, to="accepted").status_code == 303
    assert accepted_assets(*where) == [last]


def test_a_coin_that_does_not_exist_in_this_mode_is_not_found(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for asset_id in ("NOSUCH", "ETH", "\x00", ""):
        answer = browser.post("settings/assets", asset_id=asset_id, to="accepted")
        assert answer.status_code == 404, asset_id


def test_branding_is_on_the_checkout_and_tells_how_it_reads(cast: Cast) -> None:
    browser = Browser(cast.alice)
    given = {"brand_name": "  Rye & Co ", "primary_color": "#FFD400", "secondary_color": ""}
    assert browser.post("settings/branding", **given).status_code == 303
    assert (store(cast).brand_name, store(cast).primary_color) == ("Rye & Co", "#ffd400")
    shown = text(browser.get("settings/branding"))
    assert "Text on your main color is black" in shown and "hard to distinguish from white" in shown
    told = Client().get(f"/api/v2/checkout/{payment(cast.bakery.test)['reference']}").json()
    assert told["branding"]["brand_name"] == "Rye & Co"


def test_what_is_no_colour_is_refused(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for wrong in ("red", "#12345", "#12345g", "#１23456", "#123456;}"):
        for name in ("primary_color", "secondary_color"):
            answer = browser.post("settings/branding", **{name: wrong})
            assert answer.status_code == 422, (wrong, name)
    assert store(cast).primary_color == ""


def test_what_is_written_on_any_colour_is_readable() -> None:
    for ground in ("#000000", "#777777", "#757575", "#ffd400", "#ff0000", "#0a6b4c", "#ffffff"):
        assert contrast(ink_on(ground), ground) >= 4.5, ground


def test_a_logo_is_drawn_anew_and_served_so_that_a_browser_can_only_show_it(cast: Cast) -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("comment", "<script>alert(1)</script>")
    assert upload(Browser(cast.alice), picture((2000, 500), pnginfo=notes)).status_code == 303
    saved = store(cast)
    assert saved.logo_url == f"http://localhost:8000/media/{saved.logo_name}"
    answer = Client().get(f"/media/{saved.logo_name}")
    assert (answer.status_code, answer["Content-Type"], answer["X-Content-Type-Options"]) == (
        200,
        "image/png",
        "nosniff",
    )
    assert (
        "immutable" in answer["Cache-Control"]
        and "default-src 'none'" in answer["Content-Security-Policy"]
    )
    assert (
        Image.open(io.BytesIO(answer.content)).size == (800, 200)
        and b"script" not in answer.content
    )
    made = payment(cast.bakery.test)
    assert f"/media/{saved.logo_name}" in Client().get(f"/pay/{made['reference']}").content.decode()
    pdf = cast.bakery.test.get(f"/payments/{made['id']}/invoice").content
    assert len(PdfReader(io.BytesIO(pdf)).pages[0].images) == 1


def test_what_is_no_small_raster_picture_is_refused(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for name, content in (
        ("empty", b""),
        ("svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("cut gif", b"GIF89a\x01"),
        ("bmp", picture(kind="BMP")),
        ("too many pixels", picture((2049, 2048), mode="1")),
        ("too many bytes", b"\x89PNG" + b"0" * 1024 * 1024),
    ):
        assert upload(browser, content).status_code == 422, name
    assert store(cast).logo_url == "" and not default_storage.exists("logos")


def test_a_store_uploads_only_so_much(cast: Cast) -> None:
    """A file that isn't a picture at first sight costs nothing; another store has its own
    budget."""
    store_id = str(cast.bakery.store.pk)
    browser = Browser(cast.alice)
    assert upload(browser, picture()).status_code == 303
    first = store(cast).logo_name
    spent = buckets.take("uploads", "live", store_id).remaining
    assert upload(browser, b"<svg/>").status_code == 422
    assert buckets.take("uploads", "live", store_id).remaining >= spent - 1
    buckets.take("uploads", "live", store_id, 55)
    while not buckets.take("uploads", "live", store_id).is_limited:
        pass
    refused = upload(browser, picture((70, 30)))
    assert refused.status_code == 429 and "Try again in a minute" in refused.content.decode()
    assert store(cast).logo_name == first
    assert upload(Browser(cast.charlie), picture()).status_code == 303


def test_every_offered_kind_becomes_a_png(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for kind in ("JPEG", "WEBP", "GIF"):
        assert upload(browser, picture(kind=kind)).status_code == 303, kind
        with default_storage.open(store(cast).logo_name) as file:
            assert Image.open(file).format == "PNG", kind


def test_another_logo_takes_the_place_of_the_first_and_can_be_removed(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    browser = Browser(cast.alice)
    upload(browser, picture())
    first = store(cast).logo_name
    with django_capture_on_commit_callbacks(execute=True):
        upload(browser, picture((10, 10)))
    second = store(cast).logo_name
    assert first != second and not default_storage.exists(first) and default_storage.exists(second)
    with django_capture_on_commit_callbacks(execute=True):
        assert browser.post("settings/logo", to="removed").status_code == 303
    assert store(cast).logo_url == "" and not default_storage.exists(second)
    assert Client().get(f"/media/{second}").status_code == 404


def test_nothing_but_logos_is_served(db: None) -> None:
    for path in ("logos/../../x.png", "logos/x/y.png", "", "logos"):
        assert Client().get(f"/media/{path}").status_code == 404, path


def test_new_coins_are_offered_to_a_store_and_accepted_in_one_step(cast: Cast) -> None:
    owner = Browser(cast.alice)
    owner.switch("live")
    assert "more coin" not in text(owner.get("settings/assets"))
    Asset.objects.filter(pk__in=["BASE_USDC", "OP_USDC"]).update(is_active=True)
    page = text(owner.get("settings/assets"))
    assert "You could accept 2 more coins." in page
    assert owner.post("settings/assets", to="all_accepted").status_code == 303
    taken = {asset.pk for asset in accepted_assets(store(cast).pk, "live")}
    assert {"BASE_USDC", "OP_USDC", "ETH", "ETH_USDC", "ETH_USDT"} == taken
    names = AuditEntry.objects.filter(action="asset.accepted").values_list("target_id", flat=True)
    assert sorted(names) == ["BASE_USDC", "OP_USDC"]
    assert "more coin" not in text(owner.get("settings/assets"))
    owner.post("settings/assets", to="all_accepted")
    assert AuditEntry.objects.filter(action="asset.accepted").count() == 2


def test_who_may_not_change_settings_accepts_no_new_coins(cast: Cast) -> None:
    Asset.objects.filter(pk="BASE_USDC").update(is_active=True)
    browser = Browser(cast.bob)
    browser.switch("live")
    assert "more coin" not in text(browser.get("settings/assets"))
    assert browser.post("settings/assets", to="all_accepted").status_code == 403
    assert "BASE_USDC" not in {asset.pk for asset in accepted_assets(store(cast).pk, "live")}
