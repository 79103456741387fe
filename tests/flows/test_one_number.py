"""One number for one fact: every amount, time and count that any page, file or email says of a
payment is one that its API document says, whatever its amounts, coins and currency."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from pypdf import PdfReader

from apps.core import money
from apps.payments.models import Payment
from apps.payments.units import to_units
from tests import make
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser

pytestmark = pytest.mark.django_db
SIGNS = {"EUR": "€", "USD": "$", "JPY": "¥", "GBP": "£", "CHF": "CHF"}
# Half a cent of 1800 EUR, one atomic unit before and after it, and odd ones.
HALF_CENT = 1_997_222_222_222_222
AMOUNT = re.compile(r"([−-])?(€|\$|¥|£|CHF)\s?([\d,]+(?:\.\d+)?)")
TIMES = re.compile(r'<time datetime="([^"]+)"')


def texts(markup: str) -> str:
    """Texts that are read: without markup, hidden numbers and marks of direction."""
    markup = re.sub(
        r"<(script|style)\b.*?</\1>|<option\b.*?</option>", " ", markup, flags=re.DOTALL
    )
    plain = unescape(re.sub(r"<[^>]+>", " ", markup))
    return re.sub(r"\s+", " ", re.sub("[\u2066-\u2069\u200e\u200f]", "", plain))


def amounts(text: str, currency: str) -> set[int]:
    """In cents; a minus is no other amount."""
    return {
        round(Decimal(digits.replace(",", "")) * 100)
        for _, sign, digits in AMOUNT.findall(text)
        if sign == SIGNS[currency]
    }


@dataclass(frozen=True)
class Known:
    """A payment's figures in the API, in cents as pages write them."""

    document: dict[str, Any]

    @property
    def currency(self) -> str:
        return str(self.document["settlement_currency"])

    @property
    def due(self) -> int:
        return money.cents_from_text(self.document["settlement_amount"])

    @property
    def paid(self) -> int:
        return money.cents_from_text(self.document["amount_paid"])

    def cents(self) -> set[int]:
        whole = to_units(self.paid, self.currency)
        found = {self.due, self.paid, whole, abs(self.due - self.paid), abs(self.due - whole), 0}
        over = self.document["overpayment"]
        if over is not None:
            found.add(over["excess_cents"])
        figures = self.document["financials"]
        if figures is not None:
            names = ("gross", "fee", "net", "refunded", "platform_fee")
            gross, fee, net, refunded, platform = (
                money.cents_from_text(figures[f"{name}_amount"]) for name in names
            )
            found |= {gross, fee, net, refunded, platform, net - refunded, gross - refunded}
        for address in self.document["payment_addresses"]:
            rate = Decimal(address["exchange_rate_snapshot"])
            found |= self._rates(rate)
            decimals = address["supported_asset"]["atomic_decimals"]
            for name in ("received_atomic", "confirmed_atomic"):
                found.add(money.cents_for_atomic(int(address[name]), rate, decimals))
        for late in self.document["late_deposits"]:
            found |= self._worths(late)
        # With the fee on top, what is due is what the coins that are asked for are worth.
        if self.document["customer_pays_fee"]:
            for address in self.document["payment_addresses"]:
                found |= self._due_with_fee(address)
        return {abs(to_units(cents, self.currency)) for cents in found} | {
            abs(cents) for cents in found
        }

    def _rates(self, rate: Decimal) -> set[int]:
        return {round(rate * 100 * coins) for coins in (1, 1000, 1_000_000)}

    def _worths(self, late: dict[str, Any]) -> set[int]:
        return {
            money.cents_for_atomic(
                int(late["amount_atomic"]),
                Decimal(address["exchange_rate_snapshot"]),
                address["supported_asset"]["atomic_decimals"],
            )
            for address in self.document["payment_addresses"]
            if address["supported_asset"]["asset_id"] == late["asset_id"]
        }

    def _due_with_fee(self, address: dict[str, Any]) -> set[int]:
        due = money.cents_for_atomic(
            int(address["crypto_amount_atomic"]),
            Decimal(address["exchange_rate_snapshot"]),
            address["supported_asset"]["atomic_decimals"],
        )
        return {due, abs(due - self.paid)}

    def moments(self) -> set[datetime]:
        """Every time in the document, to the second."""
        return set(_moments_in(self.document))


def _moments_in(value: Any) -> Iterator[datetime]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _moments_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from _moments_in(part)
    elif isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", value):
        yield datetime.fromisoformat(value).replace(microsecond=0)


def ugly(shop: Shop) -> Iterator[dict[str, Any]]:
    """Payments of amounts that no rounding likes, in every state."""
    api = shop.test
    for atomic in (HALF_CENT - 1, HALF_CENT, HALF_CENT + 1):
        short = make.payment(api, amount="7.80")
        yield make.simulated(api, short["id"], amount_atomic=str(atomic))
        over = make.payment(api, amount="7.80")
        due = int(over["payment_addresses"][0]["crypto_amount_atomic"])
        yield make.simulated(api, over["id"], amount_atomic=str(due + atomic))
    two = make.payment(api, amount="9.99")
    make.simulated(api, two["id"], amount_atomic=str(HALF_CENT), reference="ether")
    *_, other = two["payment_addresses"]
    yield make.simulated(
        api,
        two["id"],
        amount_atomic=str(int(other["crypto_amount_atomic"]) // 3),
        asset_id=other["supported_asset"]["asset_id"],
        reference="other",
    )
    yen = make.payment(api, amount="1001", currency="JPY")
    yield make.simulated(api, yen["id"], amount_atomic="1235000000000001")
    yen = make.payment(api, amount="1001", currency="JPY")
    due = int(yen["payment_addresses"][0]["crypto_amount_atomic"])
    yield make.simulated(api, yen["id"], amount_atomic=str(due + 111_666_666_666_667))
    for currency in ("USD", "CHF", "GBP"):
        yield make.paid(api, amount="33.33", currency=currency)
    yield make.simulated(
        api, make.payment(api, amount="100.00", customer_pays_fee=True)["id"], "underpaid"
    )
    yield make.simulated(api, make.payment(api, amount="0.03")["id"])
    part = make.paid(api, amount="20.01")
    api.post(
        f"/payments/{part['id']}/refunds", {"refund": {"amount_atomic": str(HALF_CENT)}}, key="part"
    )
    yield part
    late = make.payment(api, amount="12.34", expires_in=900)
    make.advance(api, 90_000)
    yield make.simulated(api, late["id"], amount_atomic=str(HALF_CENT), late=True)


@dataclass
class Walk:
    """Figures that were found, and those that no document says."""

    shop: Shop
    browser: Browser
    wrong: list[str]
    seen: int = 0

    def look(self, known: Known, surface: str, text: str) -> None:
        found = amounts(text, known.currency)
        self.seen += len(found)
        if found - known.cents():
            self.wrong.append(
                f"{surface} of {known.document['reference']}: {sorted(found - known.cents())}"
                f" of {sorted(known.cents())}"
            )

    def time(self, known: Known, surface: str, markup: str) -> None:
        told = {
            datetime.fromisoformat(moment).astimezone(UTC).replace(microsecond=0)
            for moment in TIMES.findall(markup)
        }
        if told - known.moments():
            self.wrong.append(f"{surface} of {known.document['reference']}: {told}")


def test_every_amount_and_time_of_a_payment_is_one_that_the_api_says(cast: Cast) -> None:
    shop = cast.bakery
    made = list(ugly(shop))
    make.advance(shop.test, 180)
    make.advance(shop.test, 180)
    walk = Walk(shop, Browser(cast.alice), [])
    listed = walk.browser.get("payments?per_page=100").content.decode()
    inbox = walk.browser.get("attention").content.decode()
    rows = _csv(walk.browser, "payments.csv")
    booked = _csv(walk.browser, "statement.csv?account=available")
    for record in made:
        known = Known(make.detail(shop.test, record["id"]))
        reference = known.document["reference"]
        checkout = Client().get(f"/pay/{reference}").content.decode()
        body = checkout.split("<main")[1]
        walk.look(known, "checkout", texts(body))
        walk.time(known, "checkout", body)

        page = walk.browser.get(f"payments/{record['id']}").content.decode().split("<main")[1]
        walk.look(known, "payment's page", texts(page))

        for part in _rows(listed, record["id"]):
            walk.look(known, "list", texts(part))
        for part in _items(inbox, record["id"]):
            walk.look(known, "needs attention", texts(part))

        file = Client().get(f"/pay/{reference}/invoice.pdf")
        if file.status_code == 200:
            pages = PdfReader(io.BytesIO(file.content)).pages
            walk.look(known, "PDF", texts(" ".join(sheet.extract_text() for sheet in pages)))
        if known.document["status"] in ("completed", "refunded"):
            sent = len(outbox.outbox)
            Client().post(f"/pay/{reference}/receipt", {"email": "ann@example.com"})
            make.mail_leaves()
            for email in outbox.outbox[sent:]:
                walk.look(known, "receipt", texts(str(email.body)))

        for row in rows:
            if row["reference"] == reference:
                _compare(walk, known, "file of payments", row)
        for line in booked:
            if line["reference"] == record["id"] and line["role"] == "net":
                figures = known.document["financials"]
                value = abs(money.cents_from_text(line["value"].lstrip("-")))
                assert value in known.cents() or len(figures["assets"]) > 1, (reference, line)
    assert not walk.wrong, "\n".join(walk.wrong)
    assert walk.seen > 100


def _csv(browser: Browser, path: str) -> list[dict[str, str]]:
    answer = browser.get(path)
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def _rows(markup: str, id: str) -> list[str]:
    return [row for row in re.findall(r"<tr\b.*?</tr>", markup, re.DOTALL) if id in row]


def _items(markup: str, id: str) -> list[str]:
    return [row for row in re.findall(r"<li>.*?</li>", markup, re.DOTALL) if id in row]


def _compare(walk: Walk, known: Known, surface: str, row: dict[str, str]) -> None:
    for name in ("amount", "received", "fee", "net", "refunded"):
        text = row.get(name, "").lstrip("-")
        if re.fullmatch(r"\d+\.\d\d", text):
            cents = money.cents_from_text(text)
            walk.seen += 1
            if cents not in known.cents():
                walk.wrong.append(f"{surface}, {name} of {row['reference']}: {text}")


def test_what_came_and_what_is_left_make_what_is_due_of_every_record(cast: Cast) -> None:
    shop = cast.bakery
    for record in ugly(shop):
        payment = Payment.objects.get(pk=record["id"])
        shown = texts(Client().get(f"/pay/{record['reference']}").content.decode())
        said = re.search(r"(\S+[\d.,]+) of (\S+[\d.,]+) received", shown)
        if said is None or payment.status != Payment.Status.PROCESSING:
            continue
        came, due = (amounts(part, payment.settlement_currency) for part in said.groups())
        (left,) = amounts(shown.split("Left to pay")[1][:20], payment.settlement_currency)
        assert came.pop() + left == due.pop(), shown


def test_the_number_of_each_list_is_that_of_its_rows(cast: Cast) -> None:
    shop = cast.bakery
    assert len(list(ugly(shop))) == Payment.objects.count()
    browser = Browser(cast.alice)
    statuses = ("", "completed", "processing", "expired", "refunded")
    numbers = []
    for status in statuses:
        page = browser.get(f"payments?status={status}").content.decode()
        rows = _csv(browser, f"payments.csv?status={status}")
        foot = page.split('class="pagination"')[1:]
        said = re.search(r"(?:of )?(\d+)(?: results?|\s*<)", "".join(foot))
        numbers.append((int(said.group(1)) if said else 0, len(rows)))
    assert all(said == found for said, found in numbers), numbers
    assert numbers[0][0] == Payment.objects.count()
