"""Mass payouts at the dashboard: upload, review, one code for the whole list, and what became of
each line."""

import uuid
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from apps.payouts.models import Payout, PayoutBatch
from apps.payouts.services.batches import release_lines
from tests.cast import Cast
from tests.dashboard.browse import Browser, hidden_fields, text

HEADER = "asset_id,amount,destination,label\n"
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
TWIN = "0x5290000000000000000000000000000000009ee7"


def upload(browser: Browser, lines: str) -> Any:
    file = SimpleUploadedFile("salaries.csv", (HEADER + lines).encode(), "text/csv")
    return browser.post("payouts/batches/new", form_key=uuid.uuid4().hex, file=file)


def review(browser: Browser, lines: str) -> tuple[str, Any]:
    made = upload(browser, lines)
    assert made.status_code == 303, text(made)
    path = made.headers["Location"]
    return path, browser.get(path)


def test_a_list_is_reviewed_as_a_whole_and_sent_with_one_code(rich: Cast, alice: Browser) -> None:
    path, page = review(
        alice, f"SETH,0.1,{ADDRESS},Anna\nSETH,0.25,{TWIN[:-4]}beef,Ben\nSETH,x,{ADDRESS},Carl\n"
    )
    told = text(page)
    assert "Review 2 payouts" in told and "0.35 <span" in told and "≈ €" in told
    assert "Amount must be a decimal number" in told and "Anna" in told
    assert not Payout.objects.exists()
    agreed = {"agreed": hidden_fields(page)["agreed"]}
    asked = alice.client.post(path, agreed)
    assert asked.status_code == 200 and asked.context["asks_code"] and not Payout.objects.exists()
    assert alice.confirm(asked, path, **agreed).status_code == 303
    release_lines()
    assert [payout.amount_atomic for payout in Payout.objects.order_by("amount_atomic")] == [
        10**17,
        25 * 10**16,
    ]
    after = text(alice.get(path))
    assert "Send 2 payouts" not in after and "Created" in after
    again = alice.post(path, **agreed)
    assert again.status_code == 422 and Payout.objects.count() == 2


def test_a_code_for_one_list_does_not_open_another(rich: Cast, alice: Browser) -> None:
    path, page = review(alice, f"SETH,0.1,{ADDRESS}\n")
    other_path, other = review(alice, f"SETH,0.2,{ADDRESS}\n")
    asked = alice.client.post(path, {"agreed": hidden_fields(page)["agreed"]})
    refused = alice.confirm(asked, other_path, agreed=hidden_fields(other)["agreed"])
    assert refused.status_code == 422
    swapped = alice.post(path, agreed=hidden_fields(other)["agreed"])
    assert swapped.status_code == 422 and "review it again" in text(swapped)
    release_lines()
    assert not Payout.objects.exists()


def test_flagged_lines_must_be_compared(rich: Cast, alice: Browser) -> None:
    path, page = review(alice, f"SETH,0.1,{ADDRESS}\nSETH,0.1,{TWIN}\n")
    assert "Compare 2 lines" in text(page) and "Looks like" in text(page)
    agreed = hidden_fields(page)["agreed"]
    assert alice.post(path, agreed=agreed).status_code == 422
    assert alice.post(path, agreed=agreed, compared="yes").status_code == 303
    assert PayoutBatch.objects.get().status == "released"


def test_a_list_that_was_sent_before_must_be_compared(rich: Cast, alice: Browser) -> None:
    path, page = review(alice, f"SETH,0.1,{ADDRESS}\n")
    alice.post(path, agreed=hidden_fields(page)["agreed"])
    path, page = review(alice, f"SETH,0.1,{ADDRESS}\n")
    assert "The same payouts were sent before" in text(page)
    assert alice.post(path, agreed=hidden_fields(page)["agreed"]).status_code == 422


def test_sending_needs_two_factor_authentication_and_the_role(rich: Cast) -> None:
    owner = Browser(rich.alice)
    path, page = review(owner, f"SETH,0.1,{ADDRESS}\n")
    refused = owner.post(path, agreed=hidden_fields(page)["agreed"])
    assert refused.status_code == 403 and "two-factor" in text(refused)
    bob = Browser(rich.bob)
    assert bob.get(path).status_code == 200 and bob.get("payouts/batches/new").status_code == 403
    assert bob.post(path, agreed=hidden_fields(page)["agreed"]).status_code == 403
    assert bob.post(f"{path}/discard").status_code == 403
    assert PayoutBatch.objects.get().status == "review"


def test_a_balance_that_is_too_small_is_told_before_anything_is_sent(
    rich: Cast, alice: Browser
) -> None:
    path, page = review(alice, f"SETH,3,{ADDRESS}\n")
    assert "2 <span" in text(page) and "short" in text(page) and "Send 1 payout" not in text(page)
    assert alice.post(path, agreed=hidden_fields(page)["agreed"]).status_code == 422


def test_a_file_that_is_no_list_is_told_on_the_form(alice: Browser) -> None:
    key = hidden_fields(alice.get("payouts/batches/new"))["form_key"]
    assert "Choose a CSV file." in text(alice.post("payouts/batches/new", form_key=key))
    file = SimpleUploadedFile("x.csv", b"a,b\n1,2\n")
    answer = alice.post("payouts/batches/new", form_key=key, file=file)
    assert answer.status_code == 422 and "must name the columns" in text(answer)
    assert not PayoutBatch.objects.exists()


def test_a_list_is_discarded_filtered_and_exported(rich: Cast, alice: Browser) -> None:
    path, _ = review(alice, f"SETH,0.1,{ADDRESS},=1+1\nSETH,x,{ADDRESS},Carl\n")
    assert "Carl" in text(alice.get(f"{path}?lines=invalid"))
    assert "No matching lines" in text(alice.get(f"{path}?lines=failed"))
    lines = b"".join(alice.get(f"{path}/lines.csv").streaming_content).decode().splitlines()
    assert lines[0].endswith("payout_id,payout_status,tx_hash") and len(lines) == 3
    assert "'=1+1" in lines[1] and "invalid" in lines[2]
    assert alice.post(f"{path}/discard").status_code == 303
    assert "Discarded" in text(alice.get("payouts/batches"))
    assert alice.get("payouts/batches/template.csv").status_code == 200


def test_lists_of_others_and_of_the_other_mode_are_not_found(rich: Cast, alice: Browser) -> None:
    path, _ = review(alice, f"SETH,0.1,{ADDRESS}\n")
    stranger = Browser(rich.charlie)
    for page in (path, f"{path}/lines.csv"):
        assert stranger.get(page).status_code == 404
    assert stranger.post(f"{path}/discard").status_code == 404
    alice.switch("live")
    assert alice.get(path).status_code == 404
