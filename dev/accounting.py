"""Programs that read the exports of the books, for their tests: Beancount, and readers of OFX,
camt.053, DATEV's EXTF and KSeF's FA(3), in an environment of their own; hledger and Ledger are
Debian's packages."""

from pathlib import Path

from dev.apart import Apart

APART = Apart("accounting", "no Beancount, so its tests are skipped")
PROGRAM = Path(__file__).with_name("accounting_program.py")
