"""Commands for an operator, where an outcome may only be decided at a terminal: whole lines, to be
copied."""

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.chain.models import (
    HotWallet,
    OutgoingTransaction,
    UnexplainedBalance,
    UnknownTransaction,
)

_SENDING = "manage.py sending"


def of_outgoing(row: OutgoingTransaction) -> list[str]:
    """It was sent under a hash, it wasn't, it is to be sent again, or it is given up."""
    if row.status != OutgoingTransaction.Status.REVIEW:
        return []
    return [
        f"{_SENDING} sent {row.pk} --hash HASH",
        *(f"{_SENDING} {act} {row.pk}" for act in ("unsent", "again", "cancel")),
    ]


def of_unknown(row: UnknownTransaction) -> list[str]:
    return [] if row.settled_at is not None else [f"{_SENDING} known {row.tx_hash}"]


def of_unexplained(row: UnexplainedBalance) -> list[str]:
    """The blocks before it are read again, or the coins accepted."""
    if row.settled_at is not None:
        return []
    first = max(0, row.block_number - 100)
    watch = "manage.py watch_chains"
    return [
        f"{watch} --again {row.chain_id} {first} {row.block_number}",
        f"{watch} --accept {row.pk} --reason REASON",
    ]


def of_wallet(row: HotWallet) -> list[str]:
    return [] if row.halted_at is None else [f"{_SENDING} resume {row.pk}"]


def shown(before: str, commands: Iterable[str]) -> SafeString:
    """Below what a column says, folded away: a list has many."""
    lines = format_html_join(
        "", '<bdi class="code command">{}</bdi>', ((command,) for command in commands)
    )
    if not lines:
        return format_html("{}", before)
    return format_html(
        '{}<details class="commands"><summary>Commands</summary>{}</details>', before, lines
    )
