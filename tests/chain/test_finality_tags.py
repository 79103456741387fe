"""Blocks count by the tag that a network's nodes give them: alone, or with their confirmations; and
never earlier where no node tells it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from structlog.testing import capture_logs

from apps.assets.models import Chain
from apps.assets.services import FINALITY_RULES, NoTagConfirmations, change_asset, finality_of
from apps.audit.grants import WEB
from apps.chain.models import Deposit, Head
from apps.chain.node_checks import Verdict, check_node
from apps.chain.selectors import is_final
from apps.payments.services.settle import settle_deposits
from tests import make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_payment_flow import entry
from tests.roles import acting_as

pytestmark = pytest.mark.chain
CONFIRMATIONS = 3
STANDS_FOR_TAG = 10


class Tags:
    """A node that calls blocks final as the test says: None for a node that doesn't know the
    tag."""

    def __init__(self, proxy: Proxy, chain: LocalChain) -> None:
        self.finalized: int | None = 0
        self.asked: list[str] = []
        self._chain = chain
        self.hash = ""
        proxy.changes.append(self._tell)

    def _tell(self, method: str, given: list[Any], told: Any) -> Any:
        if method != "eth_getBlockByNumber" or given[0] not in ("safe", "finalized"):
            return told
        self.asked.append(given[0])
        if self.finalized is None:
            return None
        block = self._chain.block(self.finalized)
        return {**block, "hash": self.hash} if self.hash else block


@pytest.fixture
def tags(proxy: Proxy, chain: LocalChain) -> Tags:
    return Tags(proxy, chain)


def rule(name: str) -> None:
    tag, counts = FINALITY_RULES[name]
    Chain.objects.filter(pk="sepolia").update(
        finality_tag=tag,
        counts_confirmations=counts,
        tag_confirmations=STANDS_FOR_TAG,
        required_confirmations=CONFIRMATIONS,
    )


@pytest.fixture
def paid(chain: LocalChain, watcher: Reader, address: str) -> Callable[[], int]:
    """Pay, read it, and say in which block it is."""

    def act() -> int:
        chain.mine(2)
        watcher.read()
        chain.pay(address, 10**15)
        watcher.read()
        return chain.height

    return act


def status() -> str:
    return Deposit.objects.get().status


def buried(chain: LocalChain, watcher: Reader, count: int) -> None:
    chain.mine(count)
    watcher.read()


def test_the_tag_alone_counts_before_the_confirmations(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int]
) -> None:
    rule("finalized")
    block = paid()
    tags.finalized = block - 1
    buried(chain, watcher, 1)
    assert status() == "confirming"
    tags.finalized = block
    watcher.read()
    assert status() == "confirmed", "no other block was needed"
    assert Head.objects.get().tagged_number == block and is_final(Deposit.objects.get())


def test_the_tag_alone_makes_more_confirmations_than_the_number_wait(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int]
) -> None:
    rule("safe")
    block = paid()
    tags.finalized = block - 1
    buried(chain, watcher, STANDS_FOR_TAG + 5)
    assert status() == "confirming" and not is_final(Deposit.objects.get())
    assert set(tags.asked) == {"safe"}
    tags.finalized = block
    buried(chain, watcher, 1)
    assert status() == "confirmed"


@pytest.mark.parametrize("comes_first", ["the tag", "the confirmations"])
def test_with_both_each_waits_for_the_other(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int], comes_first: str
) -> None:
    rule("confirmations+finalized")
    block = paid()
    tags.finalized = block if comes_first == "the tag" else block - 1
    buried(chain, watcher, 1 if comes_first == "the tag" else CONFIRMATIONS + 2)
    assert status() == "confirming"
    tags.finalized = block
    buried(chain, watcher, CONFIRMATIONS)
    assert status() == "confirmed"


@pytest.mark.parametrize("name", ["finalized", "confirmations+finalized"])
def test_a_node_that_does_not_know_the_tag_credits_no_earlier(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int], name: str
) -> None:
    rule(name)
    tags.finalized = None
    paid()
    buried(chain, watcher, STANDS_FOR_TAG - 2)
    assert status() == "confirming" and not is_final(Deposit.objects.get())
    buried(chain, watcher, 1)
    assert status() == "confirmed" and is_final(Deposit.objects.get())
    assert Head.objects.get().tagged_number is None


def test_a_node_that_refuses_the_tag_is_one_that_does_not_know_it(
    proxy: Proxy, chain: LocalChain, watcher: Reader, paid: Callable[[], int]
) -> None:
    rule("finalized")
    proxy.refuses = lambda method, given: given[:1] == ["finalized"]
    paid()
    buried(chain, watcher, STANDS_FOR_TAG - 2)
    assert status() == "confirming"
    buried(chain, watcher, 1)
    assert status() == "confirmed"


def test_a_node_that_calls_its_newest_block_final_is_not_believed(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int]
) -> None:
    rule("finalized")
    block = paid()
    tags.finalized = block
    watcher.read()
    assert status() == "confirming"
    chain.mine()
    tags.finalized = chain.height
    watcher.read()
    assert status() == "confirming"


def test_a_tag_at_a_block_of_another_branch_is_not_believed(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int]
) -> None:
    rule("finalized")
    tags.finalized = paid()
    tags.hash = "0x" + "7" * 64
    with capture_logs() as logs:
        buried(chain, watcher, 1)
    assert status() == "confirming"
    assert [line for line in logs if line["event"] == "tag_of_another_branch"]


def test_a_branch_that_replaces_blocks_takes_the_tag_back_with_them(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int]
) -> None:
    rule("finalized")
    block = paid()
    raw = chain.raw(Deposit.objects.get().tx_hash)
    chain.mine(4)
    tags.finalized = block - 2
    watcher.read()
    Head.objects.update(tagged_number=block - 1)
    chain.reorg(6, (raw, 3))
    tags.finalized = block - 2
    watcher.read()
    assert status() == "confirming"
    assert Head.objects.get().tagged_number == block - 2


def test_the_merchant_and_the_customer_see_that_the_network_has_the_last_word(
    tags: Tags, chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    rule("confirmations+finalized")
    payment = make.payment(bakery.test)
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    watcher.read()
    settle_deposits()
    [told] = make.detail(bakery.test, payment["id"])["transactions"]
    assert told["waits_for"] == "confirmations"
    buried(chain, watcher, CONFIRMATIONS)
    settle_deposits()
    document = make.detail(bakery.test, payment["id"])
    [told] = document["transactions"]
    assert (told["status"], told["waits_for"]) == ("confirming", "finality")
    page = Client().get(f"/pay/{document['reference']}").content.decode()
    assert "Waiting for the network to finalize the transaction" in page
    tags.finalized = chain.height - 1
    buried(chain, watcher, 1)
    settle_deposits()
    document = make.detail(bakery.test, payment["id"])
    [told] = document["transactions"]
    assert (document["status"], told["waits_for"]) == ("completed", None)


def test_an_operator_chooses_the_rule_and_the_log_says_so(db: None) -> None:
    for name in FINALITY_RULES:
        assert finality_of(change_asset("BASE_USDC", finality=name).chain) == name
    with pytest.raises(NoTagConfirmations, match="Avalanche"):
        change_asset("AVAX_USDC", finality="finalized")


def test_the_check_of_a_node_says_what_is_counted_instead(
    tags: Tags, proxy: Proxy, chain: LocalChain, db: None
) -> None:
    rule("finalized")
    row = Chain.objects.get(pk="sepolia")
    chain.mine(5)

    def finding() -> tuple[Verdict, str]:
        [found] = [item for item in check_node(row, proxy.url) if item.ability == "tag finalized"]
        return found.verdict, found.text

    tags.finalized = None
    assert finding()[0] == Verdict.INSTEAD
    assert f"not told: {STANDS_FOR_TAG} confirmations are counted" in finding()[1]
    tags.finalized = chain.height
    assert finding()[0] == Verdict.INSTEAD
    assert f"isn't believed: {STANDS_FOR_TAG} confirmations" in finding()[1]
    tags.finalized = chain.height - 3
    assert finding() == (Verdict.WORKS, finding()[1]) and "3 blocks behind" in finding()[1]


def test_web_takes_what_was_set_aside_only_when_the_network_calls_it_final(
    tags: Tags, chain: LocalChain, watcher: Reader, paid: Callable[[], int]
) -> None:
    rule("confirmations+finalized")
    block = paid()
    tags.finalized = block - 1
    buried(chain, watcher, CONFIRMATIONS)
    Deposit.objects.update(status="unmatched")

    with pytest.raises(DatabaseError, match="the watcher alone"), transaction.atomic():
        take_as_web()
    Head.objects.update(tagged_number=block)
    take_as_web()


def take_as_web() -> None:
    with acting_as(WEB):
        Deposit.objects.update(status="confirmed")
