"""A stand-in for KSeF, for demos and test mode, which sends nothing anywhere. It refuses what KSeF
refuses: a document that isn't an invoice of this seller in FA(3), and a buyer's tax number with a
wrong check digit. A day that is still to come it takes, since a test clock may be there.

Buyers whose digits begin with 00 are refused, too, and those with 99 are an outage.
"""

import base64
import hashlib
import zlib
from datetime import date
from decimal import Decimal
from html import escape
from xml.etree import ElementTree as Xml

from apps.billing.providers.base import Parcel, ParcelAnswer, ParcelState
from apps.core.clock import real_now
from apps.core.errors import ErrorCode, ProviderError
from apps.core.text.vat_numbers import is_vat_number

REFUSED = "00"
AWAY = "99"
_SPACE = "{http://crd.gov.pl/wzor/2025/06/25/13775/}"
_POLYNOMIAL = 0x07


class LocalZlotyRates:
    """One rate for every currency and day."""

    def before(self, currency: str, day: date) -> Decimal:
        return Decimal("4.25")


class LocalKsef:
    def send(self, parcel: Parcel) -> ParcelAnswer:
        return self.look(parcel)

    def look(self, parcel: Parcel) -> ParcelAnswer:
        digits = "".join(letter for letter in parcel.receiver if letter.isdigit())
        if digits.startswith(AWAY):
            raise ProviderError(ErrorCode.UNREACHABLE, "KSeF is away")
        if digits.startswith(REFUSED):
            return _refused("Błąd weryfikacji semantyki dokumentu faktury")
        try:
            root = Xml.fromstring(parcel.content)  # noqa: S314  # of our own writing
        except Xml.ParseError:
            return _refused("Błąd weryfikacji pliku faktury")
        problem = _problem(root, parcel)
        if problem:
            return _refused(problem)
        number = _number(parcel)
        receipt = _receipt(root, parcel, number)
        return ParcelAnswer(ParcelState.DELIVERED, "", parcel.id, number, receipt)


def _problem(root: Xml.Element, parcel: Parcel) -> str:
    def text(path: str) -> str:
        names = "/".join(f"{_SPACE}{name}" for name in path.split("/"))
        return root.findtext(names) or ""

    if root.tag != f"{_SPACE}Faktura" or text("Naglowek/WariantFormularza") != "3":
        return "Błąd weryfikacji pliku faktury"
    if text("Podmiot1/DaneIdentyfikacyjne/NIP") != parcel.sender:
        return "Nieprawidłowy zakres uprawnień"
    buyer = text("Podmiot2/DaneIdentyfikacyjne/NIP")
    if buyer and not is_vat_number(buyer, "PL"):
        return "Nieprawidłowy NIP nabywcy"
    return ""


def _refused(message: str) -> ParcelAnswer:
    return ParcelAnswer(ParcelState.REFUSED, message)


def _number(parcel: Parcel) -> str:
    """As KSeF forms it: seller, day, twelve digits, and the check sum of all these (CRC-8)."""
    digits = f"{zlib.crc32(parcel.id.encode()):012X}"
    body = f"{parcel.sender}-{real_now():%Y%m%d}-{digits}"
    rest = 0
    for byte in body.encode():
        rest ^= byte
        for _ in range(8):
            rest = (rest << 1 ^ _POLYNOMIAL if rest & 0x80 else rest << 1) & 0xFF
    return f"{body}-{rest:02X}"


def _receipt(root: Xml.Element, parcel: Parcel, number: str) -> str:
    """As KSeF writes them (UPO 4.3)."""
    at = real_now()
    content = parcel.content
    names = ("P_2", "P_1")
    invoice, day = (root.findtext(f"{_SPACE}Fa/{_SPACE}{name}") or "" for name in names)
    digits = hashlib.sha256(parcel.id.encode()).hexdigest().upper()
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    session = f"{at:%Y%m%d}-SO-{digits[:10]}-{digits[10:20]}-{digits[20:22]}"
    return _RECEIPT.format(
        session=session,
        sender=parcel.sender,
        digest=digest,
        number=number,
        invoice=escape(invoice),
        day=day,
        at=at.isoformat(timespec="milliseconds"),
    )


_RECEIPT = """<?xml version="1.0" encoding="utf-8"?>
<Potwierdzenie xmlns="http://upo.schematy.mf.gov.pl/KSeF/v4-3">
  <NazwaPodmiotuPrzyjmujacego>Ministerstwo Finansów</NazwaPodmiotuPrzyjmujacego>
  <NumerReferencyjnySesji>{session}</NumerReferencyjnySesji>
  <Uwierzytelnienie>
    <IdKontekstu><Nip>{sender}</Nip></IdKontekstu>
    <SkrotDokumentuUwierzytelniajacego>{digest}</SkrotDokumentuUwierzytelniajacego>
  </Uwierzytelnienie>
  <NazwaStrukturyLogicznej>Schemat_FA(3)_v1-0E.xsd</NazwaStrukturyLogicznej>
  <KodFormularza>FA (3)</KodFormularza>
  <Dokument>
    <NipSprzedawcy>{sender}</NipSprzedawcy>
    <NumerKSeFDokumentu>{number}</NumerKSeFDokumentu>
    <NumerFaktury>{invoice}</NumerFaktury>
    <DataWystawieniaFaktury>{day}</DataWystawieniaFaktury>
    <DataPrzeslaniaDokumentu>{at}</DataPrzeslaniaDokumentu>
    <DataNadaniaNumeruKSeF>{at}</DataNadaniaNumeruKSeF>
    <SkrotDokumentu>{digest}</SkrotDokumentu>
    <TrybWysylki>Online</TrybWysylki>
  </Dokument>
</Potwierdzenie>
"""
