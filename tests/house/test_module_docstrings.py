"""Each module says what it is."""

import ast
import re

from tests.house.files import PYTHON, ROOT

# A module up to the end of what it says it is.
_BEGIN = re.compile(r'(\s|#.*\n)*"""[\s\S]*?"""')


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
