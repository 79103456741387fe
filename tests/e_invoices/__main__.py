"""`python -m tests.e_invoices [--rules DIR] [--count N]`: the generated e-invoices before all
rules, and before the official ones of XRechnung and Peppol that a folder has (anywhere in it):
XRechnung-UBL-validation.sch, XRechnung-CII-validation.sch and common.sch beside their folders,
PEPPOL-EN16931-UBL.sch, PEPPOL-EN16931-CII.sch, CEN-EN16931-UBL.sch, CEN-EN16931-CII.sch. Where it
has KSeF's upo-v4-3.xsd, receipts are checked as well."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.e_invoices.checking import OFFICIAL

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e_invoices", description=__doc__)
    parser.add_argument("--rules", type=Path, help="a folder with the official rules")
    parser.add_argument("--count", type=int, default=200, help="documents, credit notes among them")
    asked = parser.parse_args()
    folder = asked.rules
    environment = {**os.environ, "TILLGATE_E_INVOICE_COUNT": str(asked.count)}
    if folder is not None:
        wanted = {file for files in OFFICIAL.values() for file in files}
        missing = sorted(file for file in wanted if len(list(folder.rglob(file))) != 1)
        if missing:
            print(f"{folder} must have each of these once: {', '.join(missing)}", file=sys.stderr)
            return 2
        environment["TILLGATE_E_INVOICE_RULES"] = str(folder.resolve())
    of = ["tests/e_invoices", "tests/billing/test_ksef.py"]
    command = [sys.executable, "manage.py", "test", *of, "-s"]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
