"""`python -m tests.faults.long [kills]`: the long run, 200 kills over every kind and place. Exit 1
when anything is lost or doubled."""

import sys

from tests.faults.children import RESUME_SECONDS
from tests.faults.kills import suffer_many

KILLS = 200


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    outcome, findings = suffer_many(kills, lambda line: print(line, flush=True))
    for (kind, place), number in sorted(outcome.killed.items()):
        print(f"{kind:<8} {place:<8} killed {number}")
    for (kind, place), number in sorted(outcome.passed_by.items()):
        print(f"{kind:<8} {place:<8} not reached {number}")
    slowest = max(outcome.resumed_seconds, default=0.0)
    print(
        f"{sum(outcome.killed.values())} kills, {len(outcome.faults)} faults, {len(findings)}"
        f" findings, slowest resumption {slowest:.1f} s"
    )
    for line in (*outcome.faults, *findings):
        print(line)
    return (
        1
        if outcome.faults
        or findings
        or slowest > RESUME_SECONDS
        or sum(outcome.killed.values()) < kills
        else 0
    )


if __name__ == "__main__":
    sys.exit(main())
