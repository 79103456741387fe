"""Orders `tests/slow_first.txt` by measured times: of a run of all tests, the files that took
longest.

python3 manage.py test tests -n 3 --dist load --junit-xml=var/times.xml
.venv/bin/python -m tests.slow_first var/times.xml
"""

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".txt")
SECONDS_MIN = 5.0  # of all tests of a file


def file_of(classname: str) -> str:
    """`tests.sending.test_faults.TestAWorkerKilled` is in tests/sending/test_faults.py."""
    parts = classname.split(".")
    while parts:
        path = Path(*parts).with_suffix(".py")
        if (ROOT / path).exists():
            return str(path)
        parts.pop()
    return ""


def slow_first(junit: Path) -> list[str]:
    seconds: Counter[str] = Counter()
    for case in ElementTree.parse(junit).iter("testcase"):
        seconds[file_of(case.attrib["classname"])] += float(case.attrib["time"])  # type: ignore[assignment]
    return [path for path, taken in seconds.most_common() if path and taken > SECONDS_MIN]


if __name__ == "__main__":
    LIST.write_text("".join(f"{path}\n" for path in slow_first(Path(sys.argv[1]))))
