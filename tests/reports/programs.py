"""The programs that exports are made for, asked what they read."""

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

from dev import accounting, machine

Balances = dict[tuple[str, str], Fraction]


def is_there(name: str) -> bool:
    """`beancount` is one of those that have an environment of their own."""
    if name in ("hledger", "ledger"):
        return machine.accounting(name) is not None
    return accounting.APART.is_installed()


def read_by(what: str, path: Path) -> Any:
    """By Beancount, or a reader of OFX, camt.053, EXTF or FA(3)."""
    command = [str(accounting.APART.python), str(accounting.PROGRAM), what, str(path)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not finished.returncode, finished.stderr
    return json.loads(finished.stdout)


def bean_check(path: Path) -> str:
    """Complaints of the program itself, empty without any."""
    command = [str(accounting.APART.python.with_name("bean-check")), str(path)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bool(finished.returncode) == bool(finished.stderr.strip()), finished.stderr
    return finished.stderr


def run(name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program = machine.accounting(name)
    assert program is not None
    # Without the settings of whoever runs the tests.
    env = {"LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "LEDGER_INIT": "/dev/null"}
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, env=env
    )


def balances_by(name: str, path: Path) -> Balances:
    """Of every account and coin, as hledger or Ledger adds them up."""
    if name == "hledger":
        finished = run(
            name, "-f", str(path), "balance", "-N", "--flat", "-E", "--layout=bare", "-O", "csv"
        )
        rows = [line.strip('"').split('","') for line in finished.stdout.splitlines()[1:]]
        found = {(account, coin): Fraction(amount) for account, coin, amount in rows if coin}
    else:
        form = "%(account)\t%(commodity)\t%(quantity(amount))\n"
        finished = run(name, "-f", str(path), "register", "--format", form, "--no-color")
        found = {}
        for line in finished.stdout.splitlines():
            account, coin, amount = line.split("\t")
            key = (account, coin.strip('"'))
            found[key] = found.get(key, Fraction(0)) + Fraction(amount)
    assert not finished.returncode and not finished.stderr, finished.stderr
    return found
