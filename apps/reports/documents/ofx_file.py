"""A statement as OFX 2.0.3: an account for each coin, in money, with the coins in the memo of each
transaction. Its ids stay the same, so what is imported twice is there once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from xml.sax.saxutils import escape

from apps.core import clock, money
from apps.reports.documents.coin_spools import CoinSpools
from apps.reports.documents.statement_lines import BankLine, BankStatement, CoinStatement
from apps.reports.models import Report

NAME_MAX = 32
MEMO_MAX = 255
ACCOUNT_MAX = 22
BANK = "TILLGATE"
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    '<?OFX OFXHEADER="200" VERSION="203" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n'
)
_DONE = "<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>"


def write(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file. Raises RateMissing."""
    statement = BankStatement.of(report, progress)
    first, last = report.period_from, report.period_to
    made = clock.now(report.store, report.mode)
    with CoinSpools(statement) as spools:
        file.write(
            (
                f"{_HEAD}<OFX><SIGNONMSGSRSV1><SONRS>{_DONE}<DTSERVER>{made:%Y%m%d%H%M%S}</DTSERVER>"
                "<LANGUAGE>ENG</LANGUAGE></SONRS></SIGNONMSGSRSV1>\n<BANKMSGSRSV1>\n"
            ).encode()
        )
        for number, (coin, closing_cents) in enumerate(spools.coins(), 1):
            head = (
                f"<STMTTRNRS><TRNUID>{number}</TRNUID>{_DONE}<STMTRS>"
                f"<CURDEF>{statement.currency}</CURDEF><BANKACCTFROM><BANKID>{BANK}</BANKID>"
                f"<BRANCHID>{report.store_id.hex[:ACCOUNT_MAX]}</BRANCHID>"
                f"<ACCTID>{account_of(report, coin)[:ACCOUNT_MAX]}</ACCTID>"
                "<ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>\n<BANKTRANLIST>"
                f"<DTSTART>{first:%Y%m%d}</DTSTART>"
                f"<DTEND>{last + timedelta(days=1):%Y%m%d}</DTEND>\n"
            )
            file.write(head.encode())
            for line in spools.lines(coin):
                file.write(_transaction(line).encode())
            foot = (
                f"</BANKTRANLIST><LEDGERBAL><BALAMT>{money.text_from_cents(closing_cents)}</BALAMT>"
                f"<DTASOF>{last:%Y%m%d}</DTASOF></LEDGERBAL></STMTRS></STMTTRNRS>\n"
            )
            file.write(foot.encode())
        file.write(b"</BANKMSGSRSV1></OFX>\n")


def account_of(report: Report, coin: CoinStatement) -> str:
    return coin.asset_id if report.is_live else f"TEST-{coin.asset_id}"


def _transaction(line: BankLine) -> str:
    """Noon, so that it is the same day in every zone that a program may take it for."""
    type = "FEE" if line.id.partition("-")[2] else "CREDIT" if line.cents >= 0 else "DEBIT"
    memo = " ".join(filter(None, (line.details, line.reference, line.order_id)))
    return (
        f"<STMTTRN><TRNTYPE>{type}</TRNTYPE><DTPOSTED>{line.day:%Y%m%d}120000</DTPOSTED>"
        f"<TRNAMT>{money.text_from_cents(line.cents)}</TRNAMT><FITID>{line.id}</FITID>"
        f"<NAME>{xml_text(line.description, NAME_MAX)}</NAME>"
        f"<MEMO>{xml_text(memo, MEMO_MAX)}</MEMO></STMTTRN>\n"
    )


def xml_text(text: str, maximum: int) -> str:
    """On one line, at most so long, of characters that XML may have."""
    flat = " ".join("".join(one for one in text if one.isprintable()).split())
    return escape(flat[:maximum])
