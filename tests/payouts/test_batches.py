"""Mass payouts: what a file may say, what a person is warned of, and that each line is a payout of
its own."""

from typing import Any

import pytest
from django.conf import settings

from apps.access.access import Access
from apps.access.operations import RoleForbids
from apps.chain.models import Address
from apps.core.redis import buckets
from apps.ledger.selectors import balances
from apps.payouts.models import Payout, PayoutBatch, PayoutBatchLine, StorePayoutCap
from apps.payouts.services import batches
from apps.payouts.services.batch_file import LINES_MAX, ROWS_MAX, Unreadable
from apps.payouts.services.destinations import add_bank, add_wallet
from apps.stores.models import Role
from apps.stores.verifying.uploads import TooManyUploads
from tests import make
from tests.cast import Cast, signed_in
from tests.payouts.test_concurrency import together

HEADER = "asset_id,amount,destination,label\n"
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
TWIN = "0x5290000000000000000000000000000000009ee7"


@pytest.fixture
def rich(cast: Cast) -> Cast:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    return cast


def address(number: int) -> str:
    return f"0x{number + 1:036x}beef"


def access_of(cast: Cast, role: str = Role.OWNER) -> Access:
    person = cast.alice if role == Role.OWNER else cast.bob
    return signed_in(person, cast.bakery.store, "test", role)


def upload(cast: Cast, body: str | bytes, key: str = "a" * 32) -> PayoutBatch:
    raw = body if isinstance(body, bytes) else (HEADER + body).encode()
    viewer = access_of(cast)
    return batches.open_batch(
        viewer,
        cast.bakery.store,
        cast.alice,
        filename="salaries.csv",
        raw=raw,
        form_key=key,
    )


def release(cast: Cast, batch: PayoutBatch) -> None:
    batches.release_batch(access_of(cast), batch, cast.alice, batch.digest, is_compared=True)


def only_line(batch: PayoutBatch) -> PayoutBatchLine:
    line: PayoutBatchLine = batch.lines.get()
    return line


NO_NUMBER = "Amount must be a decimal number of coins with a point, such as 12.5"
NO_ADDRESS = "Destination address is not valid for Ethereum Sepolia"
WRONG_LETTER = "A character of this address is wrong. Copy it again"
NO_DESTINATION = "Destination is neither an address nor a saved destination"
BAD_LINES = [
    ("NOPE,1,{a}", "NOPE isn't an asset that can be paid out in this mode"),
    ("ETH,1,{a}", "ETH isn't an asset that can be paid out in this mode"),
    ('SETH,"1,5",{a}', NO_NUMBER),
    ("SETH,-1,{a}", NO_NUMBER),
    ("SETH,1e3,{a}", NO_NUMBER),
    ("SETH,,{a}", NO_NUMBER),
    ("SETH,٣,{a}", NO_NUMBER),
    ("SETH,0.0,{a}", "Amount must be greater than zero"),
    ("SETH,0.1234567890123456789,{a}", "Amount has more than 18 decimal places"),
    ("SETH,1,0x12", NO_ADDRESS),
    ("SETH,1,0x000000000000000000000000000000000000dEaD", NO_ADDRESS),
    ("SETH,1,0x52908400098527886e0F7030069857D2E4169EE7", WRONG_LETTER),
    ("SETH,1,", NO_DESTINATION),
    ("SETH,1,Nobody", NO_DESTINATION),
    ("SETH,0.0000000001,{a}", "Amount is below the network minimum"),
]


def test_a_line_that_cannot_be_paid_says_why(rich: Cast) -> None:
    body = "".join(line.format(a=ADDRESS) + "\n" for line, _ in BAD_LINES)
    found = upload(rich, body).lines.order_by("number")
    assert [(line.number, line.status, line.problem) for line in found] == [
        (number, "invalid", problem) for number, (_, problem) in enumerate(BAD_LINES, start=2)
    ]


def test_an_address_of_the_service_is_refused(rich: Cast) -> None:
    make.payment(rich.bakery.test)
    own = Address.objects.filter(mode="test").values_list("address", flat=True)[0]
    assert only_line(upload(rich, f"SETH,0.1,{own}")).status == "invalid"


BAD_FILES = [
    (b"", "the first line must name the columns"),
    (b"asset_id;amount\nSETH;1", "destination is missing"),
    (HEADER.encode(), "no payouts"),
    (HEADER.encode() + b"SETH,1,\xff\xfe", "UTF-8"),
    (HEADER.encode() + b"SETH,1,\x00", "isn't text"),
    (HEADER.encode() + b'SETH,1,"' + b"x" * 200_000, "can't be read"),
    (b"x" * (2 * 1024 * 1024 + 1), "larger than 2 MB"),
    (HEADER.encode() + b"SETH,1,x\n" * (LINES_MAX + 1), "more than 10,000 payouts"),
]


def test_a_file_that_is_no_list_is_refused_whole(cast: Cast) -> None:
    for raw, sentence in BAD_FILES:
        with pytest.raises(Unreadable, match=sentence):
            upload(cast, raw)
    assert not PayoutBatch.objects.exists()


def test_a_file_of_a_spreadsheet_in_another_language_is_read_too(rich: Cast) -> None:
    raw = (
        "\ufeffDestination;Amount;Asset_ID\r\n"
        + f"{ADDRESS};0.1;SETH\r\n\r\n{address(1)};0.2;SETH\r\n"
    )
    batch = upload(rich, raw.encode())
    assert [line.amount_atomic for line in batch.lines.all()] == [10**17, 2 * 10**17]


def test_saved_destinations_are_named_by_label_or_id(rich: Cast) -> None:
    wallet = add_wallet(rich.bakery.store, "test", "sepolia", ADDRESS, "Cold wallet")
    bank = add_bank(
        rich.bakery.store,
        "test",
        currency="EUR",
        holder="A",
        account="DE89370400440532013000",
        label="House bank",
    )
    batch = upload(rich, f"SETH,0.1,cold WALLET\nSETH,0.2,{wallet.pk}\nSETH,0.3,House bank\n")
    first, second, third = batch.lines.all()
    assert (first.destination, first.address) == (
        wallet,
        ADDRESS.lower(),
    ) and second.destination == wallet
    assert third.problem == "Bank account is not verified" and bank.verified_at is None


def test_look_alikes_and_twins_are_pointed_out(rich: Cast) -> None:
    add_wallet(rich.bakery.store, "test", "sepolia", ADDRESS)
    batch = upload(
        rich,
        f"SETH,0.1,{TWIN}\nSETH,0.1,{address(1)}\nSETH,0.1,{address(1)}\nSETH,0.2,{address(1)}\n",
    )
    flags = [(line.lookalike, line.twin_number) for line in batch.lines.all()]
    assert flags == [(ADDRESS.lower(), None), ("", None), ("", 3), ("", None)]


def test_two_addresses_of_one_list_that_look_alike_are_both_pointed_out(rich: Cast) -> None:
    batch = upload(rich, f"SETH,0.1,{ADDRESS}\nSETH,0.1,{TWIN}\n")
    assert [line.lookalike for line in batch.lines.all()] == [TWIN, ADDRESS.lower()]


def test_each_line_becomes_a_payout_and_a_refused_one_stops_no_other(rich: Cast) -> None:
    batch = upload(
        rich, "".join(f"SETH,0.1,{address(n)},no {n}\n" for n in range(4)) + "SETH,oops,x\n"
    )
    release(rich, batch)
    StorePayoutCap.objects.create(store=rich.bakery.store, asset_id="SETH", daily_atomic=3 * 10**17)
    batches.release_lines()
    statuses = [line.status for line in batch.lines.all()]
    assert sorted(statuses) == ["created", "created", "created", "failed", "invalid"]
    failed = batch.lines.get(status="failed")
    assert failed.problem and failed.payout is None
    assert Payout.objects.count() == 3
    assert balances(rich.bakery.store.pk, "test")["SETH"].reserved_atomic == 3 * 10**17


def test_a_line_that_is_released_twice_is_one_payout(rich: Cast) -> None:
    batch = upload(rich, f"SETH,0.1,{ADDRESS}\n")
    release(rich, batch)
    batches.release_lines()
    # as if the process had died between the payout and its line
    PayoutBatchLine.objects.update(status="queued", payout=None)
    batches.release_lines()
    assert Payout.objects.count() == 1 and only_line(batch).payout == Payout.objects.get()


def test_a_list_is_released_once_and_only_as_it_was_reviewed(rich: Cast) -> None:
    batch = upload(rich, f"SETH,0.1,{ADDRESS}\n")
    with pytest.raises(batches.BatchChanged):
        batches.release_batch(access_of(rich), batch, rich.alice, "0" * 64)
    stale = PayoutBatch.objects.select_related("store").get(pk=batch.pk)
    release(rich, batch)
    with pytest.raises(batches.NotUnderReview):
        release(rich, stale)
    with pytest.raises(batches.NotUnderReview):
        batches.discard_batch(stale)


def test_who_may_not_move_money_releases_nothing(rich: Cast) -> None:
    batch = upload(rich, f"SETH,0.1,{ADDRESS}\n")
    with pytest.raises(RoleForbids):
        batches.release_batch(access_of(rich, Role.DEVELOPER), batch, rich.bob, batch.digest)
    batches.release_lines()
    assert not Payout.objects.exists()


def test_flagged_lines_are_released_only_once_they_were_compared(rich: Cast) -> None:
    batch = upload(rich, f"SETH,0.1,{ADDRESS}\nSETH,0.1,{TWIN}\n")
    with pytest.raises(batches.MustCompare):
        batches.release_batch(access_of(rich), batch, rich.alice, batch.digest)
    release(rich, batch)
    assert PayoutBatch.objects.get().status == "released"


def test_a_list_that_the_balance_does_not_cover_is_not_released(rich: Cast) -> None:
    batch = upload(rich, f"SETH,0.6,{ADDRESS}\nSETH,0.6,{address(1)}\n")
    assert batches.totals_of(batch)[0].missing_atomic == 2 * 10**17
    with pytest.raises(batches.BalanceTooSmall):
        release(rich, batch)
    batches.release_lines()
    assert not Payout.objects.exists()


def test_the_same_payouts_a_second_time_are_recognized(rich: Cast) -> None:
    body = f"SETH,0.1,{ADDRESS}\n"
    first = upload(rich, body)
    assert upload(rich, body) == first  # the same form, sent twice
    release(rich, first)
    again = upload(rich, body, "b" * 32)
    assert again != first and batches.earlier_twin(again) == first
    assert batches.earlier_twin(upload(rich, f"SETH,0.2,{ADDRESS}\n", "c" * 32)) is None


def test_a_discarded_list_sends_nothing(rich: Cast) -> None:
    batch = upload(rich, f"SETH,0.1,{ADDRESS}\n")
    batches.discard_batch(batch)
    with pytest.raises(batches.NotUnderReview):
        release(rich, batch)
    batches.release_lines()
    assert not Payout.objects.exists()


def test_reading_a_list_asks_the_database_the_same_few_questions_however_long_it_is(
    rich: Cast, django_assert_max_num_queries: Any
) -> None:
    body = "".join(f"SETH,0.000001,{address(n)}\n" for n in range(500))
    with django_assert_max_num_queries(20):
        upload(rich, body)


def test_only_so_many_lists_wait_for_review(rich: Cast) -> None:
    body = f"SETH,0.1,{ADDRESS}\n"
    made = [upload(rich, body, f"{n:032x}") for n in range(batches.REVIEWS_MAX)]
    with pytest.raises(batches.TooManyReviews):
        upload(rich, body, "f" * 32)
    assert upload(rich, body, f"{0:032x}") == made[0]  # the same form again
    batches.discard_batch(made[0])
    assert upload(rich, body, "f" * 32).status == "review"


def test_a_file_is_paid_for_by_its_rows_before_it_is_read(
    rich: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("it was read")

    burst = settings.LIMITS["uploads"]["live"][1]
    upload(rich, "".join(f"SETH,0.1,{address(n)}\n" for n in range(2500)))
    left = buckets.take("uploads", "live", str(rich.bakery.store.pk)).remaining
    assert burst - 5 <= left <= burst - 3
    monkeypatch.setattr(batches, "read_lines", read)
    with pytest.raises(Unreadable, match="more than 10,000 payouts"):
        upload(rich, "\n" * (ROWS_MAX + 1), "b" * 32)
    for policy in ("uploads", "upload_rows"):
        buckets.client().flushdb()
        buckets.take(policy, "live", str(rich.bakery.store.pk), 10**9)  # all of it
        with pytest.raises(TooManyUploads) as refused:
            upload(rich, "".join(f"SETH,0.1,{address(n)}\n" for n in range(2500)), "c" * 32)
        assert refused.value.retry_after is not None and refused.value.field == "file"


def test_two_workers_release_a_list_without_doubling_a_line(committed: Cast) -> None:
    make.store_coins(committed.bakery.store, "SETH", 10**18)
    batch = upload(committed, "".join(f"SETH,0.01,{address(n)}\n" for n in range(20)))
    release(committed, batch)
    together([batches.release_lines] * 2)
    batches.release_lines()
    assert Payout.objects.visible_to(batch).count() == 20
    assert batch.lines.filter(status="created").count() == 20


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_point_that_may_group_digits_is_refused_unless_commas_separate(
    rich: Cast, mark: str
) -> None:
    """Where columns are separated by semicolons or tabs, 1.000 may be a thousand."""
    amounts = ("1.000", "12.500", "1.000.000", "0.100", "0.1", "1.00", "1.0000")
    rows = "".join(f"{ADDRESS}{mark}{amount}{mark}SETH\n" for amount in amounts)
    header = mark.join(("destination", "amount", "asset_id"))
    lines = upload(rich, f"{header}\n{rows}".encode()).lines.order_by("number")
    problem = (
        "Amount {} can be read in two ways in a file with semicolons or tabs: write it without a"
        " point, or with another number of digits after it"
    )
    assert [line.problem for line in lines] == [
        *(problem.format(amount) for amount in amounts[:3]),
        *[""] * 4,
    ]
    assert only_line(upload(rich, f"SETH,1.000,{ADDRESS}", "b" * 32)).amount_atomic == 10**18
