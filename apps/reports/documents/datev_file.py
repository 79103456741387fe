"""A report as DATEV's EXTF Buchungsstapel (format 700, version 13): each posting against the
account of the coins, in money, with the coins in its additional information.

A day has no year in this format, so a file is of one calendar year.
"""

import re
import uuid
from collections.abc import Callable
from typing import Any

from apps.core import clock, money
from apps.reports.account_codes import Codes, codes_of
from apps.reports.documents.csv_file import counted
from apps.reports.documents.statement_lines import RateMissing
from apps.reports.labels import kind_label
from apps.reports.models import Report
from apps.reports.postings import BookSide, postings_of
from apps.reports.selectors import Extent, asset_sums, lines

ENCODING = "cp1252"
REFERENCE_MAX = 36
TEXT_MAX = 60
NAME_MAX = 30
DETAIL_MAX = 210
# Who has no number yet: the smallest that there is.
CONSULTANT, CLIENT = "1001", "1"
_NO_REFERENCE = re.compile(r"[^A-Za-z0-9$%&*+\-/]")
_IDS = uuid.UUID("9d1f4c5e-6f0b-5f3d-9b55-3d4a1c3f6a10")


def _numbered(names: tuple[str, str], count: int) -> list[str]:
    return [name.format(number) for number in range(1, count + 1) for name in names]


COLUMNS = [
    "Umsatz (ohne Soll/Haben-Kz)",
    "Soll/Haben-Kennzeichen",
    "WKZ Umsatz",
    "Kurs",
    "Basis-Umsatz",
    "WKZ Basis-Umsatz",
    "Konto",
    "Gegenkonto (ohne BU-Schlüssel)",
    "BU-Schlüssel",
    "Belegdatum",
    "Belegfeld 1",
    "Belegfeld 2",
    "Skonto",
    "Buchungstext",
    "Postensperre",
    "Diverse Adressnummer",
    "Geschäftspartnerbank",
    "Sachverhalt",
    "Zinssperre",
    "Beleglink",
    *_numbered(("Beleginfo - Art {}", "Beleginfo - Inhalt {}"), 8),
    "KOST1 - Kostenstelle",
    "KOST2 - Kostenstelle",
    "Kost-Menge",
    "EU-Land u. UStID (Bestimmung)",
    "EU-Steuersatz (Bestimmung)",
    "Abw. Versteuerungsart",
    "Sachverhalt L+L",
    "Funktionsergänzung L+L",
    "BU 49 Hauptfunktionstyp",
    "BU 49 Hauptfunktionsnummer",
    "BU 49 Funktionsergänzung",
    *_numbered(("Zusatzinformation - Art {}", "Zusatzinformation- Inhalt {}"), 20),
    "Stück",
    "Gewicht",
    "Zahlweise",
    "Forderungsart",
    "Veranlagungsjahr",
    "Zugeordnete Fälligkeit",
    "Skontotyp",
    "Auftragsnummer",
    "Buchungstyp",
    "USt-Schlüssel (Anzahlungen)",
    "EU-Land (Anzahlungen)",
    "Sachverhalt L+L (Anzahlungen)",
    "EU-Steuersatz (Anzahlungen)",
    "Erlöskonto (Anzahlungen)",
    "Herkunft-Kz",
    "Buchungs GUID",
    "KOST-Datum",
    "SEPA-Mandatsreferenz",
    "Skontosperre",
    "Gesellschaftername",
    "Beteiligtennummer",
    "Identifikationsnummer",
    "Zeichnernummer",
    "Postensperre bis",
    "Bezeichnung SoBil-Sachverhalt",
    "Kennzeichen SoBil-Buchung",
    "Festschreibung",
    "Leistungsdatum",
    "Datum Zuord. Steuerperiode",
    "Fälligkeit",
    "Generalumkehr (GU)",
    "Steuersatz",
    "Land",
    "Abrechnungsreferenz",
    "BVV-Position",
    "EU-Land u. UStID (Ursprung)",
    "EU-Steuersatz (Ursprung)",
    "Abw. Skontokonto",
]
# Texts are quoted, also empty ones; numbers, days and accounts aren't.
_TEXTS = frozenset(
    {
        "Soll/Haben-Kennzeichen",
        "WKZ Umsatz",
        "Belegfeld 1",
        "Buchungstext",
        "Buchungs GUID",
        *(name for name in COLUMNS if name.startswith("Zusatzinformation")),
    }
)


def write(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file. Raises RateMissing."""
    extent = Extent.of(report)
    sums = asset_sums(extent)
    report.lines_total = sum(total.entries for asset in sums for total in asset.sums)
    codes = codes_of(report.store_id)
    currency = report.currency or extent.store_currency
    _out(file, _head(report, codes, currency))
    _out(file, COLUMNS)
    for postings in postings_of(counted(lines(extent, sums), progress)):
        for posting in postings:
            if not posting.is_entry and (row := _row(posting, extent, codes, currency)):
                _out(file, [_cell(name, row.get(name, "")) for name in COLUMNS])


def _out(file: Any, cells: list[str]) -> None:
    file.write((";".join(cells) + "\r\n").encode(ENCODING, "replace"))


def _head(report: Report, codes: Codes, currency: str) -> list[str]:
    made = clock.now(report.store, report.mode)
    first, last = report.period_from, report.period_to
    name = f"Tillgate {'' if report.is_live else 'TEST '}{first:%d.%m.}-{last:%d.%m.%Y}"
    return [
        '"EXTF"',
        "700",
        "21",
        '"Buchungsstapel"',
        "13",
        f"{made:%Y%m%d%H%M%S}{made.microsecond // 1000:03}",
        "",
        '"RE"',
        '""',
        '""',
        codes.consultant_number or CONSULTANT,
        codes.client_number or CLIENT,
        f"{first.year}0101",
        str(len(codes.coins)),
        f"{first:%Y%m%d}",
        f"{last:%Y%m%d}",
        f'"{name[:NAME_MAX]}"',
        '""',
        "1",
        "0",
        "0",
        f'"{currency}"',
        "",
        '""',
        "",
        "",
        '""',
        "",
        "",
        '""',
        '""',
    ]


def _row(posting: BookSide, extent: Extent, codes: Codes, currency: str) -> dict[str, str]:
    """Empty for what is worth less than half a cent. Raises RateMissing."""
    line = posting.line
    cents = posting.value_cents if extent.currency else posting.book_value_cents
    if cents is None:
        raise RateMissing(line.asset_id, currency)
    if not cents:
        return {}
    coins = money.decimal_from_atomic(posting.amount_atomic, line.atomic_decimals)
    details = {
        "Coins": f"{coins} {line.asset_id}",
        "Movement": str(line.movement_id),
        "Payment": line.payment_reference,
        "Order": line.order_id,
    }
    reference = line.payment_reference or str(line.movement_id)
    numbered = enumerate([item for item in details.items() if item[1]], 1)
    more = {
        name: text
        for number, (kind, value) in numbered
        for name, text in (
            (f"Zusatzinformation - Art {number}", kind),
            (f"Zusatzinformation- Inhalt {number}", value[:DETAIL_MAX]),
        )
    }
    return {
        "Umsatz (ohne Soll/Haben-Kz)": money.text_from_cents(abs(cents)).replace(".", ","),
        "Soll/Haben-Kennzeichen": "S" if cents > 0 else "H",
        "WKZ Umsatz": currency,
        "Konto": getattr(codes, posting.code_line),
        "Gegenkonto (ohne BU-Schlüssel)": codes.coins,
        "Belegdatum": f"{extent.day(line.at):%d%m}",
        "Belegfeld 1": _NO_REFERENCE.sub("", reference)[:REFERENCE_MAX],
        "Buchungstext": f"{kind_label(line.kind)} {coins} {line.asset_id}"[:TEXT_MAX],
        "Buchungs GUID": str(
            uuid.uuid5(_IDS, f"{line.movement_id} {line.asset_id} {posting.account}")
        ),
        "Festschreibung": "0",
        **more,
    }


def _cell(name: str, text: str) -> str:
    if name not in _TEXTS:
        return text
    return '"' + " ".join(text.split()).replace('"', '""') + '"'
