"""A database brought back from a backup: what was sent after it is read from the chain, and asked
for again it is not sent again."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import call_command

from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction, UnknownTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import signing_rounds
from apps.core import clock
from tests import auditing
from tests.sending.conftest import TOKEN, World

pytestmark = pytest.mark.chain


@pytest.fixture
def restored(world: World) -> Callable[[], None]:
    """Brings the records of what leaves back to where they stood before the call."""
    signing_rounds.introduce()
    before = HotWallet.objects.values().get(pk="sepolia")

    def restore() -> None:
        SignedTransaction.objects.all().delete()
        OutgoingTransaction.objects.exclude(batch=None).delete()
        OutgoingTransaction.objects.all().delete()
        HotWallet.objects.filter(pk="sepolia").update(**before)

    return restore


def sending(*arguments: str) -> dict[str, Any]:
    told = StringIO()
    call_command("sending", *arguments, "--json", stdout=told)
    return dict(json.loads(told.getvalue()))


def status(row: OutgoingTransaction) -> tuple[str, str]:
    row.refresh_from_db()
    return row.status, row.reason


def test_what_is_asked_for_again_after_a_restore_is_not_sent_again(
    world: World, restored: Callable[[], None]
) -> None:
    to = world.stranger()
    paid = world.ask(12345, to, reference="paid")
    world.finish()
    paid.refresh_from_db()
    restored()
    first = world.ask(1, world.stranger())  # what meets the halt waits for a person whatever it is
    world.finish()
    assert status(first)[0] == "review"
    assert [item["hash"] for item in sending()["unknown"]] == [paid.tx_hash]
    while_halted = world.ask(12345, to, reference="paid")
    other = world.ask(2, world.stranger())
    sending("resume", "sepolia")
    world.finish()
    assert status(while_halted) == (
        "review",
        f"The wallet did the same before the records were restored: {paid.tx_hash}",
    )
    assert (status(other)[0], world.balance(to)) == ("confirmed", 12345)
    later = world.ask(12345, to, reference="a schedule that ran again")
    world.finish()
    assert (status(later)[0], world.balance(to)) == ("review", 12345)
    sending("sent", str(while_halted.pk), "--hash", paid.tx_hash)
    sending("unsent", str(first.pk))
    sending("unsent", str(later.pk))  # the person knows: this one is meant
    world.finish()
    assert {status(item)[0] for item in (while_halted, first, later)} == {"confirmed"}
    assert (world.balance(to), len(world.raw_transfers(to))) == (2 * 12345, 2)
    assert auditing.found_of("sent_once") == []


def test_tokens_are_recognised_too(
    world: World, restored: Callable[[], None], token: str, held: Callable[[str, str], int]
) -> None:
    to = world.stranger()
    world.ask(5, to, TOKEN)
    world.finish()
    restored()
    again = world.ask(5, to, TOKEN)
    world.finish()
    sending("resume", "sepolia")
    sending("unsent", str(again.pk))
    other = world.ask(6, to, TOKEN)
    world.finish()
    assert (status(again)[0], status(other)[0], held(token, to)) == ("confirmed", "confirmed", 16)


@pytest.mark.parametrize("asset_id", ["SETH", pytest.param(TOKEN, marks=pytest.mark.whole)])
def test_what_bears_its_gas_is_recognized_though_gas_has_another_price(
    world: World, restored: Callable[[], None], token: str, asset_id: str
) -> None:
    """Such a payout is asked for anew with what the gas of that moment leaves of it."""
    to = world.stranger()
    world.ask(1000, to, asset_id)
    world.finish()
    restored()
    dearer = world.ask(501, to, asset_id)
    cheaper = world.ask(1999, to, asset_id)
    world.finish()
    sending("resume", "sepolia")
    rows = [world.ask(501, to, asset_id), world.ask(1999, to, asset_id)]
    other = world.ask(499, to, asset_id)
    another = world.ask(1000, world.stranger(), asset_id)
    world.finish()
    assert {status(item)[0] for item in (dearer, cheaper, *rows)} == {"review"}
    assert (status(other)[0], status(another)[0]) == ("confirmed", "confirmed")
    sending("unsent", str(rows[0].pk))  # the person knows that it is another one
    world.finish()
    assert status(rows[0])[0] == "confirmed"


def test_what_no_block_has_yet_halts_too_and_is_waited_for(
    world: World, restored: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    world.automine(False)
    to = world.stranger()
    for number in range(2):
        world.ask(12345 + number, to)
    world.work()
    restored()
    again = world.ask(12346, to)
    world.work()
    assert (
        status(again)[0] == "review" and HotWallet.objects.get(pk="sepolia").halted_at is not None
    )
    with pytest.raises(SystemExit):
        call_command("sending", "resume", "sepolia")
    assert "no block has yet" in capsys.readouterr().err
    world.mine()
    sending("resume", "sepolia")
    assert UnknownTransaction.objects.count() == 2
    world.finish()
    assert (status(again)[0], world.balance(to), len(world.raw_transfers(to))) == (
        "review",
        12345 + 12346,
        2,
    )


def test_what_the_backup_holds_waits_for_a_person_when_the_chain_is_ahead(
    world: World, restored: Callable[[], None]
) -> None:
    """Held before the signer could look: what was asked for before may have been sent, in whatever
    form."""
    world.ask(7, world.stranger())
    world.ask(8, world.stranger())
    world.finish()
    restored()
    before = world.ask(9, world.stranger())
    sending("stop", "sepolia")
    during = world.ask(10, world.stranger())
    sending("resume", "sepolia")
    world.finish()
    assert (status(before), status(during)[0]) == (
        ("review", str(Reason.MAY_BE_SENT.label)),
        "confirmed",
    )


def test_what_the_backup_holds_goes_on_when_the_chain_is_where_it_was(world: World) -> None:
    signing_rounds.introduce()
    before = world.ask(9, world.stranger())
    sending("stop", "sepolia")
    sending("resume", "sepolia")
    world.finish()
    assert status(before)[0] == "confirmed"


def test_a_node_that_is_behind_releases_nothing(
    world: World, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    signing_rounds.introduce()
    sending("stop", "sepolia")
    settings.CHAIN_TIP_MAX_AGE_SECONDS = 600
    with (
        time_machine.travel(clock.real_now() + timedelta(days=400), tick=True),
        pytest.raises(SystemExit),
    ):
        call_command("sending", "resume", "sepolia")
    assert "node is behind" in capsys.readouterr().err
    assert HotWallet.objects.get(pk="sepolia").halted_at is not None


def test_a_person_explains_what_nobody_asks_for_again(
    world: World, restored: Callable[[], None]
) -> None:
    world.ask()
    world.finish()
    restored()
    world.ask(1)
    world.finish()
    (unknown,) = sending()["unknown"]
    assert sending("known", unknown["hash"])["unknown"] == []
    with pytest.raises(SystemExit):
        call_command("sending", "known", unknown["hash"])
