"""A statement as camt.053.001.08: a statement for each coin, in money, with the coins in the
remittance information of each entry, and balances that lead from one to the other."""

from collections.abc import Callable, Iterator
from datetime import UTC, date
from typing import Any

from apps.core import clock, money
from apps.reports.documents.coin_spools import CoinSpools
from apps.reports.documents.ofx_file import account_of, xml_text
from apps.reports.documents.statement_lines import BankLine, BankStatement, CoinStatement
from apps.reports.models import Report

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
ID_MAX = 35
ACCOUNT_MAX = 34
TEXT_MAX = 140
NAME_MAX = 70


def write(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file. Raises RateMissing."""
    statement = BankStatement.of(report, progress)
    made = clock.now(report.store, report.mode).strftime("%Y-%m-%dT%H:%M:%SZ")
    with CoinSpools(statement) as spools:
        file.write(
            (
                f'<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="{NAMESPACE}">'
                f"<BkToCstmrStmt><GrpHdr><MsgId>{report.pk.hex}</MsgId><CreDtTm>{made}</CreDtTm>"
                "</GrpHdr>\n"
            ).encode()
        )
        for coin, closing_cents in spools.coins():
            for text in _statement(report, statement, coin, closing_cents, made):
                file.write(text.encode())
            for line in spools.lines(coin):
                file.write(_entry(line, statement.currency).encode())
            file.write(b"</Stmt>\n")
        file.write(b"</BkToCstmrStmt></Document>\n")


def _statement(
    report: Report, statement: BankStatement, coin: CoinStatement, closing_cents: int, made: str
) -> Iterator[str]:
    extent = statement.extent
    account = xml_text(f"{report.store_id.hex[:12]}-{account_of(report, coin)}", ACCOUNT_MAX)
    id = f"{report.period_from:%y%m%d}{report.period_to:%y%m%d}-{coin.asset_id}"
    first, last = (
        moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for moment in (extent.starts_at, extent.ends_at)
    )
    yield (
        f"<Stmt><Id>{xml_text(id, ID_MAX)}</Id><CreDtTm>{made}</CreDtTm>"
        f"<FrToDt><FrDtTm>{first}</FrDtTm><ToDtTm>{last}</ToDtTm></FrToDt>"
        f"<Acct><Id><Othr><Id>{account}</Id></Othr></Id><Ccy>{statement.currency}</Ccy>"
        f"<Nm>{xml_text(f'{report.store.name} {account_of(report, coin)}', NAME_MAX)}</Nm></Acct>\n"
    )
    yield _balance("OPBD", coin.opening_cents, statement.currency, report.period_from)
    yield _balance("CLBD", closing_cents, statement.currency, report.period_to)


def _balance(code: str, cents: int, currency: str, day: date) -> str:
    return (
        f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{_amount(cents, currency)}"
        f"<Dt><Dt>{day}</Dt></Dt></Bal>\n"
    )


def _amount(cents: int, currency: str) -> str:
    sign = "CRDT" if cents >= 0 else "DBIT"
    return (
        f'<Amt Ccy="{currency}">{money.text_from_cents(abs(cents))}</Amt>'
        f"<CdtDbtInd>{sign}</CdtDbtInd>"
    )


def _entry(line: BankLine, currency: str) -> str:
    amount = _amount(line.cents, currency)
    reference = xml_text(line.order_id, ID_MAX) or xml_text(line.reference, ID_MAX)
    return (
        f"<Ntry><NtryRef>{line.id}</NtryRef>{amount}<Sts><Cd>BOOK</Cd></Sts>"
        f"<BookgDt><Dt>{line.day}</Dt></BookgDt><ValDt><Dt>{line.day}</Dt></ValDt>"
        f"<AcctSvcrRef>{line.id}</AcctSvcrRef>"
        f"<BkTxCd><Prtry><Cd>{xml_text(line.kind, ID_MAX)}</Cd></Prtry></BkTxCd>"
        f"<NtryDtls><TxDtls><Refs><AcctSvcrRef>{line.id}</AcctSvcrRef>"
        f"<EndToEndId>{reference}</EndToEndId></Refs>{amount}"
        f"<RmtInf><Ustrd>{xml_text(f'{line.details} {line.reference}', TEXT_MAX)}</Ustrd></RmtInf>"
        f"</TxDtls></NtryDtls><AddtlNtryInf>{xml_text(line.description, TEXT_MAX)}</AddtlNtryInf>"
        "</Ntry>\n"
    )
