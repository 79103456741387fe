"""Onboarding links: minted for a step, living by a clock, used once; and the pages that they
open."""

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.core.redis import buckets
from apps.payouts.models import Destination
from apps.platforms.models import OnboardingLink
from apps.stores.models import AuditEntry, Verification, VerificationDocument
from apps.stores.services import change_store
from apps.stores.verifying.documents import add_document, documents_of
from tests import make
from tests.cast import Api, Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.papers import small_pdf
from tests.platforms.makers import BUSINESS, Platform, Sub, refusal

DAY = 86_400
# As in the dashboard, where a business tells of itself.
REQUIRED = {
    "business_legal_name",
    "business_country",
    "legal_form",
    "representative",
    "street",
    "city",
    "business_description",
}
WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
INVALID: list[dict[str, Any]] = [
    {"purpose": "x"},
    {"purpose": 1},
    {"expires_in": -1},
    {"expires_in": 0},
    {"expires_in": "60"},
    {"expires_in": True},
    {"expires_in": 1.5},
    {"return_url": "javascript:alert(1)"},
    {"return_url": "//shop.example"},
    {"return_url": 5},
    {"onboarding_link": []},
]


def minted(platform: Platform, merchant: Sub, **fields: Any) -> dict[str, Any]:
    answer = platform.mint(merchant.id, **fields)
    assert answer.status_code == 201, answer.content
    link: dict[str, Any] = answer.json()
    return link


def paper(name: str, content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content or small_pdf())


def page(link: dict[str, Any], tail: str = "", data: dict[str, Any] | None = None) -> Any:
    """Open a page of the link, or send its form."""
    path = f"/onboarding/{link['token']}{tail}"
    return Client().get(path) if data is None else Client().post(path, data)


def read(link: dict[str, Any]) -> Any:
    buckets.client().flushdb()
    return Api().get(f"/platform/onboarding_links/{link['token']}")


def test_a_link_is_told_with_its_token_once_and_read_without_it(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    link = minted(platform, merchant)
    token = link["token"]
    assert (token[:6], len(token), link["token_prefix"]) == ("svcob_", 46, token[:10])
    assert link["url"].endswith(f"/onboarding/{token}")
    answer = platform.test.get(f"/platform/accounts/{merchant.id}/onboarding_links/{link['id']}")
    assert token not in answer.content.decode()
    assert answer.json() == {
        **{key: value for key, value in link.items() if key not in ("token", "url")},
        "status": "active",
    }
    assert not OnboardingLink.objects.filter(token_hash=token.encode()).exists()
    assert AuditEntry.objects.filter(action="onboarding_link.created").count() == 1


def test_what_breaks_a_rule_mints_nothing(platform: Platform) -> None:
    merchant = platform.sub()
    for fields in INVALID:
        refusal(platform.mint(merchant.id, **fields), 422, "invalid_onboarding_link")
    assert not OnboardingLink.objects.exists()


def test_fields_may_stand_in_the_wrapper(platform: Platform) -> None:
    body = {"onboarding_link": {"purpose": "kyb", "expires_in": 60}}
    link = platform.test.post(
        f"/platform/accounts/{platform.sub().id}/onboarding_links", body
    ).json()
    assert (link["purpose"], link["return_url"]) == ("kyb", None)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(None, 7 * DAY), (1, 1), (30 * DAY, 30 * DAY), (30 * DAY + 1, 30 * DAY), (10**18, 30 * DAY)],
)
def test_lifetimes_are_clamped(platform: Platform, asked: int | None, seconds: int) -> None:
    link = OnboardingLink.objects.get(
        pk=minted(platform, platform.sub(), **({} if asked is None else {"expires_in": asked}))[
            "id"
        ]
    )
    assert (link.expires_at - link.created_at).total_seconds() == seconds


def test_a_live_link_returns_over_tls(platform: Platform) -> None:
    merchant = platform.sub()
    body = {"return_url": "http://shop.example"}
    refusal(
        platform.live.post(f"/platform/accounts/{merchant.id}/onboarding_links", body),
        422,
        "invalid_onboarding_link",
    )
    assert (
        platform.test.post(f"/platform/accounts/{merchant.id}/onboarding_links", body).status_code
        == 201
    )


def test_a_link_of_the_other_mode_or_account_is_unknown(platform: Platform) -> None:
    one = platform.sub()
    two = platform.sub()
    link = minted(platform, one)
    refusal(
        platform.live.get(f"/platform/accounts/{one.id}/onboarding_links/{link['id']}"), 404, None
    )
    refusal(
        platform.test.get(f"/platform/accounts/{two.id}/onboarding_links/{link['id']}"), 404, None
    )


def test_a_link_expires_by_the_platforms_test_clock(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    link = minted(platform, merchant, expires_in=600)
    make.advance(merchant.test, 601)
    assert read(link).json()["status"] == "active"
    make.advance(platform.test, 601)
    refusal(read(link), 410, "onboarding_link_unusable")
    assert page(link).status_code == 410
    told = platform.test.get(
        f"/platform/accounts/{merchant.id}/onboarding_links/{link['id']}"
    ).json()
    assert told["status"] == "expired"


@pytest.mark.parametrize("token", ["nosuchtoken", "svcob_" + "a" * 40, "%00", "svcob_"])
def test_a_token_that_was_never_minted_is_unusable(db: None, token: str) -> None:
    refusal(Api().get(f"/platform/onboarding_links/{token}"), 404, "onboarding_link_unusable")
    page_of_nothing = Client().get(f"/onboarding/{token}")
    assert page_of_nothing.status_code == 404
    title = page_of_nothing.content.decode().partition("<title>")[2].partition("</title>")[0]
    assert " ".join(title.split()) in {"This link can’t be used", "Page not found"}


def test_wrong_tokens_are_limited_and_right_ones_are_not(platform: Platform) -> None:
    link = minted(platform, platform.sub(kyc=False))
    statuses = [Client().get("/onboarding/svcob_wrong").status_code for _ in range(7)]
    assert statuses[:5] == [404] * 5 and statuses[-1] == 429
    assert [page(link).status_code for _ in range(8)] == [200] * 8


def test_a_link_of_a_closed_account_is_unusable(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    link = minted(platform, merchant)
    assert platform.test.delete(f"/platform/accounts/{merchant.id}").status_code == 204
    refusal(read(link), 404, "onboarding_link_unusable")


# --- the pages ------------------------------------------------------------------------------------


def test_a_merchant_tells_everything_and_returns(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    link = minted(platform, merchant)
    first = page(link)
    assert (
        first.status_code == 200
        and b"Your business" in first.content
        and b"Corner Shop" in first.content
    )
    assert (first["Cache-Control"], first["Referrer-Policy"]) == ("no-store", "same-origin")
    assert "form-action 'self' https://shop.example" in first["Content-Security-Policy"]
    step = page(link, "/business", BUSINESS)
    assert (step.status_code, step["Location"]) == (303, f"/onboarding/{link['token']}")
    assert b"Payout destination" in page(link).content
    last = page(link, "/payout", {"kind": "wallet", "network": "sepolia", "address": WALLET})
    assert (last.status_code, last["Location"]) == (303, "https://shop.example/back")
    verification = Verification.objects.get(store_id=merchant.id)
    assert {name: getattr(verification, name) for name in BUSINESS} == BUSINESS
    saved = Destination.objects.get(store_id=merchant.id)
    assert (saved.mode, saved.network, saved.address) == ("test", "sepolia", WALLET.lower())
    told = platform.account(merchant.id)
    assert (told["payouts_enabled"], told["verification_status"]) == (True, "pending")
    for tail in ("", "/business", "/payout"):
        assert page(link, tail).status_code == 404
    refusal(read(link), 404, "onboarding_link_unusable")
    path = f"/platform/accounts/{merchant.id}/onboarding_links/{link['id']}"
    assert platform.test.get(path).json()["status"] == "used"


def test_without_a_return_url_the_merchant_is_told_that_it_is_done(platform: Platform) -> None:
    link = minted(platform, platform.sub(kyc=False), purpose="kyb", return_url=None)
    answer = page(link, "/business", BUSINESS)
    assert answer.status_code == 200 and b"Thank you" in answer.content


@pytest.mark.parametrize(
    ("purpose", "tail"), [("kyb", "/payout"), ("payout_destination", "/business")]
)
def test_a_link_for_one_step_opens_no_other(platform: Platform, purpose: str, tail: str) -> None:
    merchant = platform.sub(kyc=False)
    link = minted(platform, merchant, purpose=purpose)
    sent = {"kind": "wallet", "network": "sepolia", "address": WALLET, **BUSINESS}
    assert page(link, tail).status_code == page(link, tail, sent).status_code == 403
    assert not Destination.objects.filter(store_id=merchant.id).exists()
    assert not Verification.objects.filter(store_id=merchant.id).exists()
    assert read(link).status_code == 200


PAYOUTS = [
    {"kind": "wallet", "network": "sepolia", "address": "0x123"},
    {
        "kind": "wallet",
        "network": "sepolia",
        "address": "0x52908400098527886e0F7030069857D2E4169EE7",
    },
    {"kind": "wallet", "network": "sepolia", "address": "0x" + "0" * 40},
    {"kind": "wallet", "network": "ethereum", "address": WALLET},
    {"kind": "wallet", "network": "nowhere", "address": WALLET},
    {"kind": "wallet"},
    {"kind": "bank", "currency": "EUR", "holder": "Corner Shop", "account": "DE00"},
    {
        "kind": "bank",
        "currency": "XXX",
        "holder": "Corner Shop",
        "account": "DE89370400440532013000",
    },
    {"kind": "bank", "currency": "EUR", "holder": "", "account": "DE89370400440532013000"},
]


def test_a_destination_that_is_none_is_refused_on_its_form(platform: Platform) -> None:
    link = minted(platform, platform.sub(kyc=False), purpose="payout_destination")
    for sent in PAYOUTS:
        answer = page(link, "/payout", sent)
        assert (
            answer.status_code == 422
            and b'data-code="invalid_payout_destination"' in answer.content
        )
    assert not Destination.objects.exists()
    assert page(link).status_code == 200


def test_a_bank_account_waits_for_staff(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    sent = {
        "kind": "bank",
        "currency": "EUR",
        "holder": "Corner Shop",
        "account": "DE89 3704 0044 0532 0130 00",
    }
    assert (
        page(minted(platform, merchant, purpose="payout_destination"), "/payout", sent).status_code
        == 303
    )
    saved = Destination.objects.get(store_id=merchant.id)
    assert (saved.kind, saved.verified_at, saved.account_hint) == ("bank", None, "3000")


@pytest.mark.parametrize("field", sorted(REQUIRED))
def test_business_details_that_are_missing_are_asked_again_with_what_was_given(
    platform: Platform, field: str
) -> None:
    link = minted(platform, platform.sub(kyc=False), purpose="kyb")
    answer = page(link, "/business", {**BUSINESS, field: " "})
    assert answer.status_code == 422 and b'data-code="invalid_verification"' in answer.content
    assert b"HRB 1234" in answer.content


def test_a_link_asks_as_much_as_the_dashboard_asks_of_a_business(
    cast: Cast, platform: Platform
) -> None:
    asked = page(minted(platform, platform.sub(kyc=False), purpose="kyb")).content.decode()
    own = text(Browser(cast.charlie).get("verification"))

    def fields(shown: str) -> set[tuple[str, bool]]:
        tags = re.findall(r"<(?:input|select|textarea)\s[^>]*>", shown)
        named = ((re.search(r'name="(\w+)"', tag), " required" in tag) for tag in tags)
        return {(name[1], is_required) for name, is_required in named if name}

    of_business = {(name, is_required) for name, is_required in fields(asked) if "csrf" not in name}
    assert of_business <= fields(own)
    assert {name for name, _ in of_business} == {*BUSINESS, "document"}
    assert {name for name, is_required in of_business if is_required} == REQUIRED


def test_documents_of_a_link_go_with_its_details(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    link = minted(platform, merchant, purpose="kyb", return_url=None)
    typed = {"business_legal_name": "Bakery Grete"}
    added = page(link, "/business", {**typed, "add": "1", "document": paper("register.pdf")})
    assert added.status_code == 200 and b"register.pdf" in added.content
    assert b"Bakery Grete" in added.content
    draft = VerificationDocument.objects.get(store_id=merchant.id)
    removed = page(link, "/business", {**typed, "remove": str(draft.pk)})
    assert b"register.pdf" not in removed.content and b"Bakery Grete" in removed.content
    assert page(link, "/business", {"remove": str(draft.pk)}).status_code == 404
    assert page(link, "/business", {"remove": "x"}).status_code == 404

    refused = page(link, "/business", {"add": "1", "document": paper("run.exe", b"MZ")})
    assert refused.status_code == 422 and "must be a PDF" in text(refused)
    assert page(link, "/business", {"add": "1"}).status_code == 422
    page(link, "/business", {"add": "1", "document": paper("register.pdf")})
    sent = page(link, "/business", {**BUSINESS, "document": paper("id.pdf")})
    assert b"Thank you" in sent.content
    told = Verification.objects.get(store_id=merchant.id)
    assert [row.name for row in documents_of(told)] == ["register.pdf", "id.pdf"]
    assert page(link, "/business", {"add": "1", "document": paper("more.pdf")}).status_code == 404


def test_nobody_adds_or_removes_a_document_of_another_account(platform: Platform) -> None:
    mine, theirs = (platform.sub(kyc=False), platform.sub(kyc=False))
    draft = add_document(theirs.store, "register.pdf", small_pdf())
    link = minted(platform, mine, purpose="kyb")
    assert b"register.pdf" not in page(link).content
    assert page(link, "/business", {"remove": str(draft.pk)}).status_code == 404
    money = minted(platform, mine, purpose="payout_destination")
    assert page(money, "/business", {"add": "1", "document": paper("id.pdf")}).status_code == 403
    assert VerificationDocument.objects.get() == draft


def test_details_that_wait_for_a_person_take_no_more_documents(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    link = minted(platform, merchant)
    assert page(link, "/business", BUSINESS).status_code == 303
    again = page(link, "/business", {**BUSINESS, "document": paper("id.pdf")})
    assert "already submitted these details" in text(again)
    assert not VerificationDocument.objects.exists()
    assert Verification.objects.filter(store_id=merchant.id).count() == 1


def test_what_was_told_elsewhere_is_not_asked_again(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    assert platform.attest(merchant.id).status_code == 201
    kyb = minted(platform, merchant, purpose="kyb")
    assert b"All set" in page(kyb).content
    assert page(kyb, "/finish", {})["Location"] == "https://shop.example/back"
    both = minted(platform, merchant)
    assert b"Payout destination" in page(both).content
    assert page(both, "/finish", {})["Location"] == f"/onboarding/{both['token']}"
    assert (
        page(both, "/payout", {"kind": "wallet", "network": "sepolia", "address": WALLET})[
            "Location"
        ]
        == "https://shop.example/back"
    )


def test_text_of_a_merchant_is_never_markup(platform: Platform) -> None:
    link = minted(platform, platform.sub(kyc=False, name="<script>alert(1)</script>"))
    answer = page(
        link, "/business", {**BUSINESS, "business_country": "", "tax_id": '"><img src=x>'}
    )
    assert b"<script>alert" not in answer.content and b"<img src=x>" not in answer.content


def test_its_head_is_the_platforms(platform: Platform) -> None:
    change_store(platform.store, brand_name="Market Hall", logo_url="https://cdn.example/logo.png")
    link = minted(platform, platform.sub(kyc=False))
    shown = page(link, "/business").content.decode()
    (head,) = re.findall(r'<header class="top">.*?</header>', shown, re.DOTALL)
    assert 'src="https://cdn.example/logo.png"' in head and "Market Hall" in head
    assert "languages" in head and shown.count('class="languages') == 1
    unknown = Client().get("/onboarding/svcob_unknown").content.decode()
    assert '<header class="top">' not in unknown and 'class="languages' in unknown
