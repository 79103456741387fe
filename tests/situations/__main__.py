"""`python -m tests.situations [words]`: every situation of the guide's table in a row on one demo,
from outside.

Contracts, exchanges, late customers, agents and issuers do on real chains what they do, and each
row of the table in `docs/guide/payments.md` is compared with the customer's page, the merchant's
pages and the API. Then `verify_ledger --chain` has the last word, and twice more since the last
point. Exit 1 when a row isn't so. Words choose the situations that have one of them in their
names.
"""

import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.situations import agents, billing, guide, misdirected, operators, short, tokens
from tests.situations.register import SITUATIONS, Situation
from tests.situations.world import World

MODULES = (short, misdirected, billing, agents, operators, tokens)
AT_ONCE = 30
SHOWN = 300


@dataclass(frozen=True)
class Row:
    name: str
    seen: tuple[str, str, str]
    problem: str

    @property
    def is_good(self) -> bool:
        return not self.problem


def tried(one: Situation, world: World, said: dict[str, guide.GuideRow]) -> Row:
    began = time.monotonic()
    row = said.get(one.name)
    marks = row.marks() if row else ("", "", "")
    try:
        story = one.tried(world)
    except Exception as error:
        traceback.print_exc()
        return Row(one.name, marks, f"{type(error).__name__}: {error}")
    if row is None:
        marks = ("", "", "; ".join(story.operator).replace("\n", " ")[:SHOWN])
    seen = tuple("\n".join(part) for part in (story.customer, story.merchant, story.program))
    missing = row.missing(*seen) if row else []
    problem = f"not seen: {'; '.join(missing)}" if missing else ""
    if missing:
        print(
            f"--- {one.name}\n{seen[0][:3000]}\n-\n{seen[1][:3000]}\n-\n{seen[2][:3000]}",
            flush=True,
        )
    print(f"{one.name}: {problem or 'ok'} ({time.monotonic() - began:.0f} s)", flush=True)
    return Row(one.name, marks, problem)


def verified(world: World) -> list[str]:
    """Errors of the ledger, asked three times."""
    wrong = []
    for words in (("--chain",), ("--since", "last"), ("--since", "last")):
        run = world.demo.manage("verify_ledger", *words)
        print(f"verify_ledger {' '.join(words)}: exit {run.returncode}", flush=True)
        if run.returncode:
            lines = [line for line in run.stdout.splitlines() if " OK " not in line]
            wrong.append("\n".join([*lines, run.stderr[-2000:]]))
    return wrong


def main() -> int:
    wanted = sys.argv[1:]
    chosen = [
        one for one in SITUATIONS.values() if not wanted or any(word in one.name for word in wanted)
    ]
    said = guide.rows()
    world = World()
    try:
        beside = [one for one in chosen if not one.is_alone]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            rows = list(pool.map(lambda one: tried(one, world, said), beside))
        rows += [tried(one, world, said) for one in chosen if one.is_alone]
        wrong = verified(world)
    finally:
        world.end()
    report(rows)
    print("\n".join(wrong) if wrong else "verify_ledger: clean")
    return 0 if not wrong and all(row.is_good for row in rows) else 1


def report(rows: list[Row]) -> None:
    print("| situation | customer sees | merchant sees | API, event or command | ok |")
    print("|---|---|---|---|---|")
    for row in rows:
        print(f"| {row.name} | {' | '.join(row.seen)} | {row.problem or 'ok'} |")


if __name__ == "__main__":
    sys.exit(main())
