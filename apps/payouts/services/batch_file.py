"""Reading an uploaded list of payouts: each line checked alone, with set-based questions to the
database for all of them together.

What is said here is advice for the person who reviews the list; the payout that a line becomes is
checked again when it is made.
"""

import csv
import hashlib
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.chain.addresses import NotValidOn, address_problem, may_be_secret
from apps.chain.networks.base import Address, AddressProblem
from apps.chain.networks.families import address_in, addresses_of, ends_of
from apps.chain.sending.limits import refused_destinations
from apps.core import money
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.models import Viewer
from apps.core.money import Amount
from apps.payouts.models import Destination, Payout, PayoutBatchLine
from apps.payouts.services.orders import BankNotVerified, Target, check_order
from apps.stores.models import Store

LINES_MAX = 10_000
ROWS_MAX = 2 * LINES_MAX  # with empty ones, and cells of several lines
BYTES_MAX = 2 * 1024 * 1024
COLUMNS = ("asset_id", "amount", "destination")
LABEL_COLUMN = "label"
LABEL_MAX = 100
WRITTEN_MAX = 200
SECRET_LENGTH_MIN = 45  # keys are longer, and recovery phrases
MASK = "…"
_DELIMITERS = ",;\t"
# Where a comma is the decimal mark, columns are separated by semicolons or tabs, and a point groups
# digits.
_MAY_BE_GROUPED = re.compile(r"[1-9][0-9]{0,2}(\.[0-9]{3})+", re.ASCII)
_IS_GROUPING = "is_grouping"
_Status = PayoutBatchLine.Status


class Unreadable(Invalid):
    """The file as a whole can't be read as a list of payouts."""


@dataclass
class FileFacts:
    """Facts for the comparison of lines, read once for all of them."""

    store: Store
    assets: dict[str, Asset]
    saved: dict[str, Destination]
    ambiguous: set[str]
    refused: set[str]
    by_ends: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))


def read_lines(viewer: Viewer, store: Store, raw: bytes) -> list[PayoutBatchLine]:
    """The lines of a CSV file, unsaved, each valid or with its problem. Raises Unreadable."""
    rows = list(_rows(raw))
    if not rows:
        raise Unreadable("file", "no_lines")
    facts = _facts(viewer, store, (cells["destination"] for _, cells in rows))
    lines = [_line(number, row, facts) for number, row in rows]
    _find_twins(lines)
    _find_lookalikes(lines, facts)
    return lines


def rows_of(raw: bytes) -> int:
    """Largest possible number of rows, without reading them: empty ones count. Raises Unreadable
    when they are too many, or the file is too large."""
    if len(raw) > BYTES_MAX:
        raise Unreadable("file", "file_size", maximum=BYTES_MAX // 1024 // 1024)
    rows = max(raw.count(b"\n"), raw.count(b"\r"))
    if rows > ROWS_MAX:
        raise Unreadable("file", "too_many_lines", maximum=f"{LINES_MAX:,}")
    return rows


def digest_of(lines: Iterable[PayoutBatchLine]) -> str:
    """Digest of the valid lines, as a short text that a person agrees to."""
    digest = hashlib.sha256()
    for line in lines:
        if line.status == _Status.VALID:
            parts = (line.asset_id, line.amount_atomic, line.destination_id or line.address)
            digest.update(f"{parts}\n".encode())
    return digest.hexdigest()


# --- the file -------------------------------------------------------------------------------------


def _rows(raw: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """(line of the file, cells by column); the header is line 1, and empty lines are left out."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("file", "not_utf8") from None
    if "\x00" in text:
        raise Unreadable("file", "not_text")
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        missing = [name for name in COLUMNS if name not in header]
        if missing:
            raise Unreadable("file", "missing_columns", columns=", ".join(missing))
        count = 0
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            count += 1
            if count > LINES_MAX:
                raise Unreadable("file", "too_many_lines", maximum=f"{LINES_MAX:,}")
            row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
            columns = {name: row.get(name, "") for name in (*COLUMNS, LABEL_COLUMN)}
            yield reader.line_num, {**columns, _IS_GROUPING: delimiter.strip(",")}
    except csv.Error as error:
        raise Unreadable("file", "unreadable_line", line=reader.line_num, problem=error) from None


# --- the lines ------------------------------------------------------------------------------------


def _facts(viewer: Viewer, store: Store, written: Iterable[str]) -> FileFacts:
    saved: dict[str, Destination] = {}
    ambiguous: set[str] = set()
    for destination in Destination.objects.visible_to(viewer).filter(removed_at=None):
        saved[str(destination.pk)] = destination
        label = destination.label.casefold()
        if label in saved:
            ambiguous.add(label)
        elif label:
            saved[label] = destination
    addresses = {address for text in written if (address := address_in(text))}
    addresses |= {destination.address for destination in saved.values() if destination.is_wallet}
    assets = {asset.pk: asset for asset in active_assets(viewer.mode)}
    refused = refused_destinations(addresses)
    facts = FileFacts(store, assets, saved, ambiguous, refused)
    for address in _paid_addresses(viewer):
        facts.by_ends[ends_of(address)].add(address)
    return facts


def _paid_addresses(viewer: Viewer) -> set[str]:
    wallets = Destination.objects.visible_to(viewer).filter(kind=Destination.Kind.WALLET)
    paid = Payout.objects.visible_to(viewer).filter(destination_address__isnull=False)
    addresses = set(wallets.values_list("address", flat=True))
    return addresses | set(paid.order_by().values_list("destination_address", flat=True).distinct())


def _line(number: int, row: dict[str, str], facts: FileFacts) -> PayoutBatchLine:
    shown = {name: MASK if _holds_secret(text) else text for name, text in row.items()}
    label = shown[LABEL_COLUMN][:LABEL_MAX]
    written = " ".join(shown[name] for name in COLUMNS)[:WRITTEN_MAX]
    asset = amount = None
    try:
        asset = _asset(shown["asset_id"], facts)
        if row[_IS_GROUPING] and _MAY_BE_GROUPED.fullmatch(row["amount"]):
            raise Invalid("amount", "grouped_or_not", written=row["amount"])
        amount = _amount(row["amount"], asset)
        target = _target(row["destination"], asset, facts)
        check_order(facts.store, Amount(asset, amount), target)
    except (Failure, Invalid) as refusal:
        text = str(refusal.wording) if isinstance(refusal, Failure) else refusal.text
        status = _Status.INVALID
        problem = text[:1].upper() + text[1:]
        target = Target(None, None)
    else:
        status = _Status.VALID
        problem = ""
    return PayoutBatchLine(
        number=number,
        label=label,
        written=written,
        status=status,
        problem=problem,
        asset=asset,
        amount_atomic=amount,
        destination=target.destination,
        address=target.address or "",
    )


def _holds_secret(cell: str) -> bool:
    """Tell whether a cell may be a key, pasted by mistake, which isn't kept."""
    return len(cell) >= SECRET_LENGTH_MIN and may_be_secret(cell)


def _asset(text: str, facts: FileFacts) -> Asset:
    asset = facts.assets.get(text)
    if asset is None:
        raise Invalid("asset_id", "payable_asset", asset_id=text or "asset_id")
    return asset


def _amount(text: str, asset: Asset) -> int:
    if not money.is_coins(text):
        raise Invalid("amount", "coins_with_point")
    amount = money.atomic_from_decimal(text, asset.atomic_decimals)
    if amount is None:
        raise Invalid("amount", "coin_places", places=asset.atomic_decimals)
    if not amount:
        raise Invalid("amount", "positive")
    return amount


def _target(text: str, asset: Asset, facts: FileFacts) -> Target:
    """An address, or a saved destination by its label or id."""
    if addresses_of(asset.chain).is_attempt(text):
        return Target(None, _address(text, asset, facts))
    name = text.casefold()
    if name in facts.ambiguous:
        raise Invalid("destination", "ambiguous_label")
    saved = facts.saved.get(name)
    if saved is None:
        problem = address_problem(asset.chain, text)
        if problem not in (None, AddressProblem.NOT_ONE):
            raise NotValidOn(asset.chain, problem)
        raise Invalid("destination", "unknown_destination")
    if not saved.is_wallet:
        if saved.verified_at is None:
            raise BankNotVerified
        return Target(saved, None)
    if saved.network != asset.chain_id:
        raise Invalid("destination", "other_network", network=asset.chain.name)
    return Target(saved, _address(saved.address, asset, facts))


def _address(text: str, asset: Asset, facts: FileFacts) -> Address:
    address = addresses_of(asset.chain).read(text)
    if address is None:
        problem = address_problem(asset.chain, text)
        raise NotValidOn(asset.chain, problem or AddressProblem.NOT_ONE)
    if address in facts.refused:
        raise NotValidOn(asset.chain)
    return Address(address)


# --- what a person should compare ---


def _find_twins(lines: list[PayoutBatchLine]) -> None:
    """Mark lines that send what an earlier one sends."""
    first_lines: dict[tuple[object, ...], int] = {}
    for line in lines:
        if line.status == _Status.VALID:
            same = (line.asset_id, line.amount_atomic, line.destination_id or line.address)
            line.twin_number = first_lines.setdefault(same, line.number)
            if line.twin_number == line.number:
                line.twin_number = None


def _find_lookalikes(lines: list[PayoutBatchLine], facts: FileFacts) -> None:
    """Mark addresses that begin and end like another one, of the store's or of the list."""
    for line in lines:
        if line.address:
            facts.by_ends[ends_of(line.address)].add(line.address)
    for line in lines:
        if line.address and line.destination_id is None:
            lookalikes = facts.by_ends[ends_of(line.address)] - {line.address}
            line.lookalike = min(lookalikes, default="")
