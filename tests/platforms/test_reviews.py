"""Reviews by a person: access to be a platform and verifications, decided by command or in the
admin, and reported by event."""

import io
import json
import re
from typing import Any

import pytest
from django.core import mail as outbox
from django.core.management import call_command

from apps.access.factors import second_factor
from apps.core import mail
from apps.core.redis import buckets
from apps.platforms.models import AccessRequest
from apps.platforms.requests import VerificationRequest
from apps.platforms.services.verifications import approve_verification, submit_verification
from apps.stores.models import AuditEntry, Store, User, Verification
from apps.stores.services import create_user
from apps.webhooks.models import Event
from tests import make
from tests.cast import PASSWORD, Cast
from tests.dashboard.browse import Browser, code_of, next_code, text
from tests.platforms.makers import VERIFICATION, Platform, refusal


def review(kind: str, id: str, decision: str, *reason: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command(
        "review",
        kind,
        id,
        decision,
        *(["--reason", *reason] if reason else []),
        "--json",
        stdout=out,
    )
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


# --- access ---------------------------------------------------------------------------------------


def test_a_store_becomes_a_platform_by_a_persons_decision(cast: Cast) -> None:
    api = cast.bakery.test
    assert api.get("/platform/access_request").json() == {"request": None}
    made = api.post("/platform/access_request", {"reason": "A market hall"})
    assert made.status_code == 201
    request = made.json()["request"]
    assert request == {
        "id": request["id"],
        "status": "pending",
        "reason": "A market hall",
        "rejection_reason": None,
        "created_at": request["created_at"],
        "reviewed_at": None,
    }
    refusal(api.post("/platform/access_request"), 409, "access_request_pending")
    assert review("platform_access", request["id"], "reject", "Tell us more") == {
        "id": request["id"],
        "status": "rejected",
    }
    assert (
        api.get("/platform/access_request").json()["request"]["rejection_reason"] == "Tell us more"
    )
    again = api.post("/platform/access_request").json()["request"]
    review("platform_access", again["id"], "approve")
    assert Store.objects.get(pk=cast.bakery.store.pk).is_platform
    refusal(api.post("/platform/access_request"), 409, "already_a_platform")
    refusal(api.get("/platform/accounts"), 403, "insufficient_scope")
    actions = list(
        AuditEntry.objects.filter(action__startswith="platform_access.")
        .order_by("id")
        .values_list("action", "reason")
    )
    assert actions == [
        ("platform_access.requested", "A market hall"),
        ("platform_access.rejected", "Tell us more"),
        ("platform_access.requested", ""),
        ("platform_access.approved", ""),
    ]


def test_a_key_made_before_keeps_its_scopes_and_the_message_says_so(platform: Platform) -> None:
    error = refusal(platform.shop.test.get("/platform/overview"), 403, "insufficient_scope")
    assert "create a new key" in error["message"]


def test_a_store_that_is_no_platform_is_told_so_on_every_path(cast: Cast) -> None:
    key = cast.bakery.with_scopes("accounts:read", "accounts:write")
    for method, path in (
        ("GET", "/platform/accounts"),
        ("POST", "/platform/accounts"),
        ("GET", "/platform/payments"),
    ):
        refusal(key(method, path, {} if method == "POST" else None), 403, "not_a_platform")


@pytest.mark.parametrize("reason", [5, [], "x" * 2001, "a\x00b"])
def test_a_reason_is_text(cast: Cast, reason: Any) -> None:
    assert cast.bakery.test.post("/platform/access_request", {"reason": reason}).status_code == 422
    assert not AccessRequest.objects.exists()


def test_a_sub_merchant_can_not_become_a_platform(platform: Platform) -> None:
    merchant = platform.sub()
    refusal(merchant.test.post("/platform/access_request"), 403, "not_a_platform")


# --- verification ---------------------------------------------------------------------------------


def test_an_approved_verification_confirms_kyc_and_is_on_the_payment(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    request = platform.attest(merchant.id)
    assert request.status_code == 201
    told = request.json()
    assert {name: told[name] for name in VERIFICATION} == VERIFICATION
    assert (told["status"], told["rejection_reason"], told["reviewed_at"]) == (
        "pending",
        None,
        None,
    )
    refusal(platform.attest(merchant.id), 409, "verification_already_pending")
    assert platform.account(merchant.id)["verification_status"] == "pending"
    review("verification", told["id"], "approve")
    account = platform.account(merchant.id)
    assert (account["charges_enabled"], account["verification_status"]) == (True, "approved")
    shown = make.detail(merchant.test, make.payment(merchant.test)["id"])["merchant"]
    assert (shown["legal_name"], shown["country"], shown["tax_id"]) == (
        "Bakery GmbH",
        "DE",
        "DE123456789",
    )
    assert (shown["registration_number"], shown["website"]) == (
        "HRB 1234",
        "https://bakery.example",
    )


def test_a_rejected_one_may_be_tried_again_and_a_decision_is_taken_once(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    first = platform.attest(merchant.id).json()
    review("verification", first["id"], "reject", "Illegible")
    assert platform.account(merchant.id)["verification_status"] == "rejected"
    with pytest.raises(SystemExit):
        review("verification", first["id"], "approve")
    assert Verification.objects.get(pk=first["id"]).rejection_reason == "Illegible"
    assert platform.attest(merchant.id).status_code == 201


BROKEN: list[dict[str, Any]] = [
    {"business_legal_name": None},
    {"business_legal_name": " "},
    {"business_country": None},
    {"business_country": "de"},
    {"business_country": "DEU"},
    {"contact_email": "nobody"},
    {"business_website": "javascript:alert(1)"},
    {"tax_id": 5},
    {"verification_request": "x"},
    {"verification_request": {}},
]


def test_details_that_break_a_rule_are_refused(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    for fields in BROKEN:
        refusal(platform.attest(merchant.id, **fields), 422, "invalid_verification")
    assert not Verification.objects.exists()


@pytest.mark.parametrize(("decision", "status"), [("approve", "approved"), ("reject", "rejected")])
def test_the_outcome_is_told_to_both_sides_in_both_modes(
    platform: Platform, decision: str, status: str
) -> None:
    merchant = platform.sub(kyc=False, external_id="c-1")
    review("verification", platform.attest(merchant.id).json()["id"], decision, "Because")
    told = Event.objects.filter(type=f"store.verification.{status}")
    assert {
        (str(item.store_id), item.mode, item.account_id and str(item.account_id)) for item in told
    } == {
        (store, mode, account)
        for mode in ("live", "test")
        for store, account in ((merchant.id, None), (str(platform.store.pk), merchant.id))
    }
    reason = "Because" if status == "rejected" else None
    expected = {
        "id": merchant.id,
        "name": "Corner Shop",
        "external_id": "c-1",
        "verification_status": status,
        "rejection_reason": reason,
    }
    assert all(item.object == expected for item in told)


def test_a_platforms_copy_is_due_by_the_platforms_own_clock(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    make.advance(merchant.test, 86_400 * 30)
    approve_verification(Verification.objects.get(pk=platform.attest(merchant.id).json()["id"]))
    events = {
        str(event.store_id): event
        for event in Event.objects.filter(type="store.verification.approved", mode="test")
    }
    ahead = events[merchant.id].created_at - events[str(platform.store.pk)].created_at
    assert round(ahead.total_seconds()) == 86_400 * 30


def emails() -> list[tuple[str, str]]:
    """To whom, and about what; each says where to go on."""
    mail.send_due()
    assert all("/dashboard/" in item.body for item in outbox.outbox)
    return [(item.to[0], item.subject) for item in outbox.outbox]


def test_a_decision_about_a_store_is_written_to_its_owners(cast: Cast) -> None:
    asked = cast.bakery.test.post("/platform/access_request").json()["request"]["id"]
    review("platform_access", asked, "reject", "Tell us <more>")
    review(
        "platform_access",
        cast.bakery.test.post("/platform/access_request").json()["request"]["id"],
        "approve",
    )
    made = submit_verification(cast.bakery.store, VerificationRequest(**VERIFICATION))
    review("verification", str(made.pk), "approve")
    name = cast.bakery.store.name
    assert emails() == [
        (cast.alice.email, f"{name} did not become a platform"),
        (cast.alice.email, f"{name} is a platform"),
        (cast.alice.email, f"{name} is verified"),
    ]
    assert "Reason: Tell us <more>" in outbox.outbox[0].body


def test_a_decision_about_a_sub_merchant_without_people_is_written_to_its_platforms_owners(
    platform: Platform, cast: Cast
) -> None:
    merchant = platform.sub(kyc=False)
    review("verification", platform.attest(merchant.id).json()["id"], "reject", "Illegible")
    assert emails() == [(cast.alice.email, "Corner Shop could not be verified")]
    assert f"/dashboard/platform/accounts/{merchant.id}" in outbox.outbox[0].body
    assert "Reason: Illegible" in outbox.outbox[0].body


@pytest.mark.parametrize("kind", ["verification", "platform_access"])
def test_the_command_refuses_what_is_not_there(
    db: None, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for id in ("00000000-0000-4000-8000-000000000000", "x"):
        with pytest.raises(SystemExit):
            review(kind, id, "approve")
    assert len(capsys.readouterr().err.strip().splitlines()) == 2


# --- the admin ------------------------------------------------------------------------------------


@pytest.fixture
def staff(db: None) -> Browser:
    clerk = create_user("reviewer@tillgate.example", PASSWORD, is_staff=True)
    factor = second_factor.switch_on(clerk, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browser = Browser()
    browser.post("sign-in", email=clerk.email, password=PASSWORD)
    browser.post("sign-in/code", code=code_of(factor), next="/admin/")
    buckets.client().flushdb()
    return browser


def test_staff_decide_with_a_reason_that_is_kept(platform: Platform, staff: Browser) -> None:
    merchant = platform.sub(kyc=False)
    row = platform.attest(merchant.id).json()
    assert "Review" in text(staff.get("/admin/stores/verification/"))
    page = f"/admin/stores/verification/{row['id']}/decide/"
    assert "Bakery GmbH" in text(staff.get(page))
    assert staff.post(page, decision="reject", reason=" ").status_code == 422
    assert staff.post(page, decision="maybe").status_code == 422
    code = next_code(User.objects.get(email="reviewer@tillgate.example"))
    refused = {"decision": "reject", "reason": "Illegible", "code": code}
    assert staff.post(page, **refused).status_code == 302
    entry = AuditEntry.objects.get(action="verification.rejected")
    assert (entry.reason, entry.actor_kind, entry.target_id) == ("Illegible", "staff", row["id"])
    assert staff.post(page, decision="approve", reason="").status_code == 422
    assert re.search(r"No decision is needed. Status: <[^>]+>Declined<", text(staff.get(page)))


def test_staff_let_a_store_be_a_platform(cast: Cast, staff: Browser) -> None:
    made = cast.bakery.test.post("/platform/access_request").json()["request"]
    assert (
        staff.post(
            f"/admin/platforms/accessrequest/{made['id']}/decide/",
            decision="approve",
            reason="Known",
        ).status_code
        == 302
    )
    assert Store.objects.get(pk=cast.bakery.store.pk).is_platform
    assert (
        staff.get(
            "/admin/platforms/accessrequest/00000000-0000-4000-8000-000000000000/decide/"
        ).status_code
        == 404
    )


def test_nobody_but_staff_decides(platform: Platform) -> None:
    row = platform.attest(platform.sub(kyc=False).id).json()
    page = f"/admin/stores/verification/{row['id']}/decide/"
    assert Browser(platform.shop.owner).post(page, decision="approve").status_code in (302, 404)
    assert Verification.objects.get(pk=row["id"]).status == "pending"


def test_no_hash_of_a_token_is_on_a_staff_page(platform: Platform, staff: Browser) -> None:
    platform.mint(platform.sub().id)
    answer = staff.get("/admin/platforms/onboardinglink/")
    assert answer.status_code == 200 and "token_hash" not in text(answer)
