"""Each module says what it is, and docstrings begin with a verb or a noun."""

import ast
import re

from tests.house.files import PYTHON, ROOT, sources

# A module up to the end of what it says it is.
_BEGIN = re.compile(r'(\s|#.*\n)*"""[\s\S]*?"""')
# Words that begin a clause, where the name of the thing belongs.
_RIDDLE = re.compile(r'^ *r?"""(What|Whatever|Who|Whoever|Whom|Whose|The same)\b', re.MULTILINE)


def test_every_module_says_what_it_is() -> None:
    wrong = []
    for path in PYTHON:
        text = path.read_text()
        is_plain = (
            path.name in ("__init__.py", "apps.py", "wsgi.py", "urls.py", "manage.py")
            and len(text.splitlines()) < 30
        )
        if "tests" in path.parts or is_plain:
            continue
        begin = _BEGIN.match(text)
        lines = len((ast.get_docstring(ast.parse(begin[0])) or "").splitlines()) if begin else 0
        if not 1 <= lines <= 6:
            wrong.append(f"{path.relative_to(ROOT)}: a docstring of {lines} lines")
    assert wrong == []


def test_no_docstring_begins_with_a_riddle() -> None:
    riddles = [
        f"{path.relative_to(ROOT)}: {found[0].strip()}"
        for path in sources("*.py")
        for found in _RIDDLE.finditer(path.read_text())
    ]
    assert riddles == []


def test_riddles_are_found() -> None:
    found = [bool(_RIDDLE.search(text)) for text in ('"""What is paid."""', '"""A payment."""')]
    assert found == [True, False]
