"""A stand-in for KSeF (API 2.0) that refuses what that refuses: a token that it doesn't know or of
another seller, a challenge used twice, a key that it has withdrawn, sizes and digests that aren't
the document's, what it can't decrypt, what breaks the schema FA(3), a day to come, a tax number
with a wrong check digit, and a second document of a number."""

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, padding, serialization
from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.x509.oid import NameOID
from lxml import etree
from pytest_httpserver import HTTPServer
from stdnum.pl import nip as polish_number
from werkzeug import Request, Response

from tests.e_invoices.fa3 import complaints

TOKEN = "20261130-EC-3A818CC000-88B2065248-D3|nip-5260250274|secret"
NIP = "5260250274"
_NS = {"f": "http://crd.gov.pl/wzor/2025/06/25/13775/"}
_OAEP = rsa_padding.OAEP(rsa_padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)


class PublishedKey:
    """A key pair with its certificate, as the list of public keys has it."""

    def __init__(self, usage: str, since_days: int = -30) -> None:
        self.private = rsa.generate_private_key(65537, 2048)
        now = datetime.now(UTC)
        begin, end = now + timedelta(days=since_days), now + timedelta(days=300)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Ministerstwo Finansów")])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.private.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
            .sign(self.private, hashes.SHA256())
        )
        der = certificate.public_bytes(serialization.Encoding.DER)
        public = self.private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.id = _text(hashlib.sha256(public).digest())
        self.listed = {
            "certificate": _text(der),
            "certificateId": _text(hashlib.sha256(der).digest()),
            "publicKeyId": self.id,
            "validFrom": begin.isoformat(),
            "validTo": end.isoformat(),
            "usage": [usage],
        }

    def opened(self, text: str) -> bytes:
        return self.private.decrypt(base64.b64decode(text), _OAEP)


@dataclass
class Session:
    key: bytes
    start: bytes
    invoices: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_closed: bool = False


@dataclass
class KsefSystem:
    """`rights`: the seller of each token that may issue invoices; `accepted`: documents by their
    number; `is_away` answers nobody; `is_cut` takes a document, and its answer is lost; `is_slow`
    is still checking it; `failures`: how many documents it then drops by a fault of its own;
    `receipts_of`: the number that its receipts name, where that isn't the document's."""

    server: HTTPServer
    rights: dict[str, str] = field(default_factory=lambda: {TOKEN: NIP})
    accepted: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_away: bool = False
    is_cut: bool = False
    is_slow: bool = False
    failures: int = 0
    receipts_of: str = ""

    def __post_init__(self) -> None:
        self.of_tokens = PublishedKey("KsefTokenEncryption")
        self.of_keys = PublishedKey("SymmetricKeyEncryption")
        self._older = PublishedKey("SymmetricKeyEncryption", -200)
        self.challenges: dict[str, int] = {}
        self.sign_ins: dict[str, dict[str, Any]] = {}
        self.access: dict[str, str] = {}
        self.sessions: dict[str, Session] = {}
        self._first: dict[tuple[str, str, str], dict[str, str]] = {}
        for method, pattern, answer in (
            ("GET", "^/security/public-key-certificates$", self._keys),
            ("POST", "^/auth/challenge$", self._challenge),
            ("POST", "^/auth/ksef-token$", self._sign_in),
            ("GET", "^/auth/[^/]+$", self._sign_in_status),
            ("POST", "^/auth/token/redeem$", self._redeem),
            ("POST", "^/sessions/online$", self._open),
            ("POST", "^/sessions/online/[^/]+/invoices$", self._take),
            ("POST", "^/sessions/online/[^/]+/close$", self._close),
            ("GET", "^/sessions/[^/]+/invoices$", self._list),
            ("GET", "^/sessions/[^/]+/invoices/[^/]+$", self._status),
            ("GET", "^/sessions/[^/]+/invoices/(ksef/)?[^/]+/upo$", self._upo),
        ):
            self.server.expect_request(re.compile(pattern), method=method).respond_with_handler(
                self._unless_away(answer)
            )

    def _unless_away(self, answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def answered(request: Request) -> Response:
            self.asked.append(f"{request.method} {request.path}")
            return Response("Service Unavailable", 503) if self.is_away else answer(request)

        return answered

    # --- who asks -----------------------------------------------------------------------------

    def _keys(self, request: Request) -> Response:
        return _json([key.listed for key in (self.of_tokens, self._older, self.of_keys)])

    def _challenge(self, request: Request) -> Response:
        challenge = _reference("CR")
        at = int(datetime.now(UTC).timestamp() * 1000)
        self.challenges[challenge] = at
        moment = datetime.fromtimestamp(at / 1000, UTC).isoformat()
        told = {"challenge": challenge, "timestamp": moment, "timestampMs": at}
        return _json({**told, "clientIp": "127.0.0.1"})

    def _sign_in(self, request: Request) -> Response:
        body = request.get_json()
        at = self.challenges.pop(body["challenge"], None)
        if at is None:
            return _refused(21111, "Nieprawidłowe wyzwanie autoryzacyjne.")
        if body["publicKeyId"] != self.of_tokens.id:
            return _refused(21470, "Przesłany identyfikator klucza jest nieznany")
        try:
            text = self.of_tokens.opened(body["encryptedToken"]).decode()
        except ValueError:
            text = ""
        token, _, told_at = text.rpartition("|")
        context = body["contextIdentifier"]
        status = {"code": 200, "description": "Uwierzytelnianie zakończone sukcesem"}
        if self.rights.get(token) is None or told_at != str(at):
            status = _status(450, "Błędny token", "Nieprawidłowy token")
        elif context != {"type": "Nip", "value": self.rights[token]}:
            status = _status(415, "Uwierzytelnianie nieudane", "Brak przypisanych uprawnień")
        reference, first = _reference("AU"), secrets.token_urlsafe()
        self.sign_ins[reference] = {
            "token": first,
            "status": status,
            "nip": context["value"],
            "looks": 0,
        }
        told = {"token": first, "validUntil": _soon()}
        return _json({"referenceNumber": reference, "authenticationToken": told}, 202)

    def _sign_in_status(self, request: Request) -> Response:
        found = self.sign_ins.get(request.path.rpartition("/")[2])
        if found is None or _bearer(request) != found["token"]:
            return Response(status=401)
        found["looks"] += 1
        waiting = _status(100, "Uwierzytelnianie w toku")
        status = waiting if found["looks"] == 1 else found["status"]
        return _json({"startDate": _soon(), "authenticationMethod": "Token", "status": status})

    def _redeem(self, request: Request) -> Response:
        for reference, found in list(self.sign_ins.items()):
            if found["token"] == _bearer(request) and found["status"]["code"] == 200:
                del self.sign_ins[reference]
                access = secrets.token_urlsafe()
                self.access[access] = found["nip"]
                told = {"token": access, "validUntil": _soon()}
                return _json({"accessToken": told, "refreshToken": told})
        return Response(status=401)

    def _seller(self, request: Request) -> str:
        return self.access.get(_bearer(request), "")

    # --- documents ----------------------------------------------------------------------------

    def _open(self, request: Request) -> Response:
        if not self._seller(request):
            return Response(status=401)
        body = request.get_json()
        form, sealed = body["formCode"], body["encryption"]
        if form != {"systemCode": "FA (3)", "schemaVersion": "1-0E", "value": "FA"}:
            return _refused(21405, "Błąd walidacji danych wejściowych.")
        if sealed["publicKeyId"] not in (self.of_keys.id, self._older.id):
            return _refused(21470, "Przesłany identyfikator klucza jest nieznany")
        chosen = self.of_keys if sealed["publicKeyId"] == self.of_keys.id else self._older
        reference = _reference("SO")
        start = base64.b64decode(sealed["initializationVector"])
        self.sessions[reference] = Session(chosen.opened(sealed["encryptedSymmetricKey"]), start)
        return _json({"referenceNumber": reference, "validUntil": _soon()}, 201)

    def _take(self, request: Request) -> Response:
        seller, reference = self._seller(request), request.path.split("/")[3]
        session, body = self.sessions.get(reference), request.get_json()
        if not seller:
            return Response(status=401)
        if session is None or session.is_closed:
            return _refused(21180, "Status sesji nie pozwala na wykonanie operacji.")
        sealed = base64.b64decode(body["encryptedInvoiceContent"])
        if body["encryptedInvoiceSize"] != len(sealed):
            return _refused(21402, "Nieprawidłowy rozmiar pliku.")
        if body["encryptedInvoiceHash"] != _digest(sealed):
            return _refused(21403, "Nieprawidłowy skrót pliku.")
        invoice = _reference("EE")
        session.invoices[invoice] = {
            "ordinalNumber": len(session.invoices) + 1,
            "referenceNumber": invoice,
            "invoiceHash": body["invoiceHash"],
            "invoicingDate": datetime.now(UTC).isoformat(),
            **self._judged(session, sealed, body, seller, reference),
        }
        if self.is_cut:
            return Response("Gateway Timeout", 504)
        return _json({"referenceNumber": invoice}, 202)

    def _judged(
        self, session: Session, sealed: bytes, body: dict[str, Any], seller: str, reference: str
    ) -> dict[str, Any]:
        """Status and number of a document."""
        if self.failures:
            self.failures -= 1
            return {"status": _status(550, "Operacja została anulowana przez system")}
        try:
            xml = _decrypted(session, sealed)
        except ValueError:
            return {"status": _status(435, "Błąd odszyfrowania pliku")}
        if len(xml) != body["invoiceSize"] or _digest(xml) != body["invoiceHash"]:
            return {"status": _status(430, "Błąd weryfikacji pliku faktury", "skrót")}
        wrong = complaints(xml)
        if wrong:
            return {"status": _status(450, "Błąd weryfikacji semantyki dokumentu", *wrong[:3])}
        root = etree.fromstring(xml)

        def text(path: str) -> str:
            return root.findtext(path, namespaces=_NS) or ""

        own = text("f:Podmiot1/f:DaneIdentyfikacyjne/f:NIP")
        buyer = text("f:Podmiot2/f:DaneIdentyfikacyjne/f:NIP")
        if own != seller:
            return {"status": _status(410, "Nieprawidłowy zakres uprawnień")}
        if not all(polish_number.is_valid(one) for one in (own, buyer) if one):
            return {"status": _status(450, "Błąd weryfikacji semantyki dokumentu", "NIP")}
        if text("f:Fa/f:P_1") > f"{datetime.now(UTC) + timedelta(hours=2):%Y-%m-%d}":
            return {"status": _status(450, "Błąd weryfikacji semantyki dokumentu", "P_1")}
        key = own, text("f:Fa/f:RodzajFaktury"), text("f:Fa/f:P_2")
        if key in self._first:
            return {"status": {**_status(440, "Duplikat faktury"), "extensions": self._first[key]}}
        number = ksef_number(own)
        self._first[key] = {
            "originalSessionReferenceNumber": reference,
            "originalKsefNumber": number,
        }
        self.accepted[number] = xml
        return {"status": _status(200, "Sukces"), "ksefNumber": number}

    def _close(self, request: Request) -> Response:
        session = self.sessions[request.path.split("/")[3]]
        session.is_closed = True
        return Response(status=204)

    def _list(self, request: Request) -> Response:
        session = self.sessions.get(request.path.split("/")[2])
        if not self._seller(request) or session is None:
            return Response(status=401 if session else 400)
        return _json({"invoices": list(session.invoices.values())})

    def _status(self, request: Request) -> Response:
        _, _, reference, _, invoice = request.path.split("/")
        session = self.sessions.get(reference)
        if not self._seller(request):
            return Response(status=401)
        if session is None or invoice not in session.invoices:
            return Response(status=404)
        told = session.invoices[invoice]
        if self.is_slow:
            told = {**told, "ksefNumber": None, "status": _status(150, "Trwa przetwarzanie")}
        return _json(told)

    def _upo(self, request: Request) -> Response:
        parts = request.path.split("/")
        rows = self.sessions[parts[2]].invoices.values()
        (row,) = (
            one for one in rows if parts[-2] in (one["referenceNumber"], one.get("ksefNumber"))
        )
        number = self.receipts_of or row["ksefNumber"]
        fa = etree.fromstring(self.accepted[row["ksefNumber"]]).find("f:Fa", namespaces=_NS)
        assert fa is not None
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        seller = number[:10]
        text = (
            '<Potwierdzenie xmlns="http://upo.schematy.mf.gov.pl/KSeF/v4-3">'
            "<NazwaPodmiotuPrzyjmujacego>Ministerstwo Finansów</NazwaPodmiotuPrzyjmujacego>"
            f"<NumerReferencyjnySesji>{parts[2]}</NumerReferencyjnySesji>"
            f"<Uwierzytelnienie><IdKontekstu><Nip>{seller}</Nip></IdKontekstu>"
            f"<NumerReferencyjnyTokenaKSeF>{TOKEN.partition('|')[0]}</NumerReferencyjnyTokenaKSeF>"
            "</Uwierzytelnienie>"
            "<NazwaStrukturyLogicznej>Schemat_FA(3)_v1-0E.xsd</NazwaStrukturyLogicznej>"
            "<KodFormularza>FA (3)</KodFormularza>"
            f"<Dokument><NipSprzedawcy>{seller}</NipSprzedawcy>"
            f"<NumerKSeFDokumentu>{number}</NumerKSeFDokumentu>"
            f"<NumerFaktury>{fa.findtext('f:P_2', namespaces=_NS)}</NumerFaktury>"
            f"<DataWystawieniaFaktury>{fa.findtext('f:P_1', namespaces=_NS)}"
            "</DataWystawieniaFaktury>"
            f"<DataPrzeslaniaDokumentu>{at}</DataPrzeslaniaDokumentu>"
            f"<DataNadaniaNumeruKSeF>{at}</DataNadaniaNumeruKSeF>"
            f"<SkrotDokumentu>{row['invoiceHash']}</SkrotDokumentu>"
            "<TrybWysylki>Online</TrybWysylki></Dokument></Potwierdzenie>"
        )
        return Response(text, content_type="application/xml")


def ksef_number(seller: str) -> str:
    """Seller, day, twelve digits, and the CRC-8 (polynomial 7) of these."""
    body = f"{seller}-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(6).upper()}"
    return f"{body}-{check_sum(body):02X}"


def check_sum(text: str) -> int:
    value = int.from_bytes(text.encode()) << 8
    for bit in reversed(range(8, value.bit_length())):
        if value >> bit & 1:
            value ^= 0x107 << (bit - 8)
    return value


def _decrypted(session: Session, sealed: bytes) -> bytes:
    opener = Cipher(algorithms.AES256(session.key), modes.CBC(session.start)).decryptor()
    filled = opener.update(sealed) + opener.finalize()
    unpadder = padding.PKCS7(128).unpadder()
    return unpadder.update(filled) + unpadder.finalize()


def _reference(kind: str) -> str:
    """36 characters, as each of its references has."""
    random = secrets.token_hex(10).upper()
    return f"20261130-{kind}-{random[:10]}-{random[10:]}-{secrets.token_hex(1).upper()}"


def _soon() -> str:
    return (datetime.now(UTC) + timedelta(minutes=15)).isoformat()


def _bearer(request: Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


def _status(code: int, description: str, *details: str) -> dict[str, Any]:
    return {"code": code, "description": description, "details": list(details) or None}


def _refused(code: int, description: str) -> Response:
    row = {"exceptionCode": code, "exceptionDescription": description, "details": []}
    return _json({"exception": {"exceptionDetailList": [row]}}, 400)


def _digest(content: bytes) -> str:
    return _text(hashlib.sha256(content).digest())


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")
