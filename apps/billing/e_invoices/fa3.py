"""A bill in Poland's structured invoice FA(3), as the national system KSeF takes it.

It has no discount of a whole invoice: each is a line of its own below zero. A credit note is an
invoice of the kind KOR whose amounts are differences.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from apps.billing.e_invoices.bills import NOT_TAXED, Address, Bill, Party, Tax, plain
from apps.billing.e_invoices.trees import Tree
from apps.core.money import cents_at, text_from_cents
from apps.core.text.vat_numbers import EU, is_northern_irish, is_vat_number, vat_country

_SPACE = "http://crd.gov.pl/wzor/2025/06/25/13775/"
POLAND = "PL"
ZLOTY = "PLN"
_NIP = re.compile(r"[1-9](\d[1-9]|[1-9]\d)\d{7}", re.ASCII)
# Control characters and others that the system refuses, although XML takes them.
_NOT_TAKEN = re.compile(r"[\x7F-\x84\x86-\x9F\uFDD0-\uFDEF\uFFFE\uFFFF]")
_BEYOND = tuple(chr(plane << 16 | end) for plane in range(1, 17) for end in (0xFFFE, 0xFFFF))
_YEARS_END = 2050
_SHORT, _LONG, _FOOTER = 256, 512, 3500
_YES, _NO = "1", "2"
_DOMESTIC_RATES = {2300: 1, 2200: 1, 800: 2, 700: 2, 500: 3, 400: 4, 300: 4}
_FREE = {
    "Z": ("0 KR", "P_13_6_1"),
    "K": ("0 WDT", "P_13_6_2"),
    "G": ("0 EX", "P_13_6_3"),
    "E": ("zw", "P_13_7"),
    NOT_TAXED: ("np I", "P_13_8"),
}
_REVERSED_AT_HOME = ("oo", "P_13_10")
_REVERSED_IN_EU = ("np II", "P_13_9")
_EXEMPT = "E"
_REVERSED = "AE"
_DIRECTIVE = "VATEX-EU-"
_PIECE = "szt."
_DISCOUNT = "Rabat"
_PAID_BEFORE = "Zapłacono wcześniej"
# Fields of sums in the order of the schema; tax has its own beside each of the first four.
_TAXED_FIELDS = ("1", "2", "3", "4")
_FREE_FIELDS = ("6_1", "6_2", "6_3", "7", "8", "9", "10")


def nip_of(party: Party) -> str:
    """The Polish tax number of a party, empty when it has none whose check digit is right."""
    for written in (party.vat_number, party.tax_number):
        digits = re.sub(r"[\s-]", "", written).removeprefix(POLAND)
        if _NIP.fullmatch(digits) and is_vat_number(digits, POLAND):
            return digits
    return ""


def wants_zloty_rate(bill: Bill) -> bool:
    """True if its tax has to be stated in złoty as well."""
    return bill.currency != ZLOTY and bool(bill.tax_cents)


def is_known_rate(tax: Tax) -> bool:
    """True if the schema has a word for the category at the rate."""
    if tax.category == "S":
        return tax.rate_bps in _DOMESTIC_RATES
    return tax.category in _FREE or tax.category == _REVERSED


def address_lines(address: Address) -> list[str]:
    """The one or two lines that the schema takes."""
    town = f"{address.postal_code} {address.city}".strip()
    lines = [*address.lines, *filter(None, (town,))]
    return lines if len(lines) <= 2 else [", ".join(lines[:-1]), lines[-1]]


def fa3(bill: Bill, code: str, version: str) -> bytes:
    """`code` and `version` are those of the form."""
    root = Tree.begun("Faktura", {})
    root.element.set("xmlns", _SPACE)
    head = root.put("Naglowek")
    head.put("KodFormularza", "FA", kodSystemowy=code, wersjaSchemy=version)
    head.put("WariantFormularza", 3)
    head.put("DataWytworzeniaFa", f"{bill.issued}T00:00:00Z")
    head.put("SystemInfo", "Tillgate")
    seller = root.put("Podmiot1")
    identity = seller.put("DaneIdentyfikacyjne")
    identity.put("NIP", nip_of(bill.seller))
    identity.put("Nazwa", _text(bill.seller.name, _LONG))
    _put_address(seller, bill.seller.address)
    _put_buyer(root.put("Podmiot2"), bill.buyer)
    _put_content(root.put("Fa"), bill)
    note = _text(" ".join(note.text for note in bill.notes), _FOOTER)
    if note:
        root.put("Stopka/Informacje/StopkaFaktury", note)
    return root.written()


def _put_buyer(at: Tree, buyer: Party) -> None:
    identity = at.put("DaneIdentyfikacyjne")
    country = buyer.address.country
    number = buyer.vat_number
    if country == POLAND and nip_of(buyer):
        identity.put("NIP", nip_of(buyer))
    elif country != POLAND and number and (vat_country(country) in EU or is_northern_irish(number)):
        identity.put("KodUE", number[:2])
        identity.put("NrVatUE", number[2:])
    elif number and country != POLAND:
        identity.put("KodKraju", country)
        identity.put("NrID", number)
    else:
        identity.put("BrakID", _YES)
    identity.put("Nazwa", _text(buyer.name, _LONG))
    _put_address(at, buyer.address)
    at.put("JST", _NO)
    at.put("GV", _NO)


def _put_address(at: Tree, address: Address) -> None:
    lines = address_lines(address)
    if not lines:
        return
    below = at.put("Adres")
    below.put("KodKraju", address.country)
    for number, line in enumerate(lines, 1):
        below.put(f"AdresL{number}", _text(line, _LONG))


def _put_content(at: Tree, bill: Bill) -> None:
    at.put("KodWaluty", bill.currency)
    at.put("P_1", bill.issued)
    at.put("P_2", _text(bill.number))
    if bill.has_period:
        period = at.put("OkresFa")
        period.put("P_6_Od", bill.supplied_from)
        period.put("P_6_Do", bill.supplied_until)
    else:
        at.put("P_6", bill.supplied_until)
    _put_sums(at, bill)
    _put_marks(at.put("Adnotacje"), bill)
    at.put("RodzajFaktury", "KOR" if bill.is_credit_note else "VAT")
    _put_preceding(at, bill)
    for number, row in enumerate(_rows(bill), 1):
        below = at.put("FaWiersz")
        _put_row(below, number, row)
        if bill.zloty_rate is not None:
            below.put("KursWaluty", bill.zloty_rate)
    if not bill.is_credit_note:
        _put_payment(at, bill)


def _put_sums(at: Tree, bill: Bill) -> None:
    sign = -1 if bill.is_credit_note else 1
    sums: dict[str, int] = defaultdict(int)
    for share in bill.shares:
        name = _word(share.tax, bill.buyer)[1]
        sums[name] += sign * share.basis_cents
        sums[name.replace("P_13", "P_14")] += sign * share.tax_cents
    for field in _TAXED_FIELDS:
        if f"P_13_{field}" in sums:
            at.put(f"P_13_{field}", text_from_cents(sums[f"P_13_{field}"]))
            tax_cents = sums[f"P_14_{field}"]
            at.put(f"P_14_{field}", text_from_cents(tax_cents))
            if bill.zloty_rate is not None:
                in_zloty = cents_at(tax_cents, bill.zloty_rate)
                at.put(f"P_14_{field}W", text_from_cents(in_zloty))
    for field in _FREE_FIELDS:
        if f"P_13_{field}" in sums:
            at.put(f"P_13_{field}", text_from_cents(sums[f"P_13_{field}"]))
    at.put("P_15", text_from_cents(sign * bill.total_cents))


def _word(tax: Tax, buyer: Party) -> tuple[str, str]:
    """The schema's word for a tax, and the field of its sum."""
    if tax.category == "S":
        return str(tax.rate_bps // 100), f"P_13_{_DOMESTIC_RATES[tax.rate_bps]}"
    if tax.category != _REVERSED:
        return _FREE[tax.category]
    country = buyer.address.country
    if country == POLAND:
        return _REVERSED_AT_HOME
    return _REVERSED_IN_EU if vat_country(country) in EU else _FREE[NOT_TAXED]


def _put_marks(at: Tree, bill: Bill) -> None:
    taxes = {share.tax.category: share.tax for share in bill.shares}
    at.put("P_16", _NO)
    at.put("P_17", _NO)
    at.put("P_18", _YES if _REVERSED in taxes else _NO)
    at.put("P_18A", _NO)
    exempt = taxes.get(_EXEMPT)
    below = at.put("Zwolnienie")
    if exempt is None:
        below.put("P_19N", _YES)
    else:
        below.put("P_19", _YES)
        of_directive = exempt.reason_code.startswith(_DIRECTIVE)
        reason = _text(exempt.reason or exempt.reason_code)
        below.put("P_19B" if of_directive else "P_19A", reason)
    at.put("NoweSrodkiTransportu/P_22N", _YES)
    at.put("P_23", _NO)
    at.put("PMarzy/P_PMarzyN", _YES)


def _put_preceding(at: Tree, bill: Bill) -> None:
    if bill.preceding is None:
        return
    at.put("PrzyczynaKorekty", _text(bill.terms))
    before = at.put("DaneFaKorygowanej")
    before.put("DataWystFaKorygowanej", bill.preceding.issued)
    before.put("NrFaKorygowanej", _text(bill.preceding.number))
    if bill.preceding.network_number:
        before.put("NrKSeF", _YES)
        before.put("NrKSeFFaKorygowanej", bill.preceding.network_number)
    else:
        before.put("NrKSeFN", _YES)


@dataclass(frozen=True)
class _Row:
    name: str
    quantity: int
    price: str
    net_cents: int
    word: str


def _rows(bill: Bill) -> Iterator[_Row]:
    sign = -1 if bill.is_credit_note else 1
    for line in bill.lines:
        word, _ = _word(line.tax, bill.buyer)
        yield _Row(line.name, sign * line.quantity, line.unit_price, sign * line.net_cents, word)
    for less in bill.allowances:
        word, _ = _word(less.tax, bill.buyer)
        yield _Row(_DISCOUNT, -1, text_from_cents(less.cents), -less.cents, word)


def _put_row(at: Tree, number: int, row: _Row) -> None:
    at.put("NrWierszaFa", number)
    at.put("P_7", _text(row.name, _LONG))
    at.put("P_8A", _PIECE)
    at.put("P_8B", row.quantity)
    at.put("P_9A", row.price)
    at.put("P_11", text_from_cents(row.net_cents))
    at.put("P_12", row.word)


def _put_payment(at: Tree, bill: Bill) -> None:
    if bill.prepaid_cents:
        settled = at.put("Rozliczenie")
        less = settled.put("Odliczenia")
        less.put("Kwota", text_from_cents(bill.prepaid_cents))
        less.put("Powod", _PAID_BEFORE)
        settled.put("SumaOdliczen", text_from_cents(bill.prepaid_cents))
        settled.put("DoZaplaty", text_from_cents(bill.due_cents))
    if bill.due is not None and bill.due.year < _YEARS_END:
        at.put("Platnosc/TerminPlatnosci/Termin", bill.due)
    if bill.order_number:
        at.put("WarunkiTransakcji/Zamowienia/NrZamowienia", _text(bill.order_number))


def _text(text: str, most: int = _SHORT) -> str:
    """In one line, of what the schema takes, and no longer than that."""
    taken = _NOT_TAKEN.sub("", plain(text))
    for letter in _BEYOND:
        taken = taken.replace(letter, "")
    return " ".join(taken.split())[:most].strip()
