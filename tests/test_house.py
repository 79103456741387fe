"""The house keeps its own rules: layers, sizes, tenancy, tables, and no trace of where it was
built."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from django.apps import apps as registry
from django.db import connection

from apps.api.urls import ROUTES
from apps.core.machine import Machine
from apps.core.models import Owned
from tests import slow_first

ROOT = Path(__file__).resolve().parent.parent
LINES_MAX = 500
FUNCTION_LINES_MAX = 70
# A table of tests has a row per promise, and the pages are one table.
TEMPLATE_COLUMNS_MAX = 120
TESTS_LINES_MAX = 1000
TESTS_FUNCTION_LINES_MAX = 140
TABLES_LINES_MAX = {"apps/dashboard/urls.py": 800}


def sources(*folders: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [ROOT / name for name in listed if (ROOT / name).exists()]


PYTHON = [
    path
    for path in sources("apps", "config", "dev", "tests", "manage.py")
    if path.suffix == ".py" and "migrations" not in path.parts
]


def test_no_app_imports_upward() -> None:
    run = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def test_files_and_functions_stay_short() -> None:
    wrong = []
    for path in PYTHON:
        text = path.read_text()
        name = path.relative_to(ROOT)
        lines = len(text.splitlines())
        is_test = name.parts[0] == "tests"
        lines_max = TABLES_LINES_MAX.get(str(name), TESTS_LINES_MAX if is_test else LINES_MAX)
        if lines > lines_max:
            wrong.append(f"{name}: {lines} lines")
        function_lines_max = TESTS_FUNCTION_LINES_MAX if is_test else FUNCTION_LINES_MAX
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert node.end_lineno is not None
                if node.end_lineno - node.lineno >= function_lines_max:
                    wrong.append(f"{name}: {node.name} has {node.end_lineno - node.lineno} lines")
    assert wrong == []


def test_templates_wrap_at_120_columns() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources("templates")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > TEMPLATE_COLUMNS_MAX
    ]
    assert wrong == []


# What a value is called is a noun: `order`, `form`, `refund`.
NO_NOUNS = frozenset({
    *("one", "ones", "told", "given", "asked", "wanted", "made", "found", "said", "named", "meant"),
    *("taken", "kept", "left", "known", "shown", "seen", "called", "looked"),
    *("ours", "theirs", "mine", "others", "those", "what", "whose"),
})  # fmt: skip


def test_values_are_nouns() -> None:
    wrong = []
    for path in sources("apps", "config", "dev", "manage.py"):
        if path.suffix != ".py" or "migrations" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        # Fields of sealed records, forms and columns keep the names that others know.
        fields = {
            id(target)
            for body in ast.walk(tree)
            if isinstance(body, ast.ClassDef)
            for statement in body.body
            if isinstance(statement, (ast.AnnAssign, ast.Assign))
            for target in getattr(statement, "targets", [getattr(statement, "target", None)])
        }
        for node in ast.walk(tree):
            name = ""
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id if id(node) not in fields else ""
            elif isinstance(node, ast.arg):
                name = node.arg
            if name in NO_NOUNS:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert wrong == []


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
        lines = len((ast.get_docstring(ast.parse(text)) or "").splitlines())
        if not 1 <= lines <= 6:
            wrong.append(f"{path.relative_to(ROOT)}: a docstring of {lines} lines")
    assert wrong == []


def owned_models() -> set[str]:
    return {model.__name__ for model in registry.get_models() if issubclass(model, Owned)}


def queries_outside_visible_to(tree: ast.AST, owned: set[str]) -> Iterator[str]:
    """`Model.objects.<anything but visible_to>` on a tenant's model."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute):
            continue
        manager = node.value
        if (
            manager.attr == "objects"
            and isinstance(manager.value, ast.Name)
            and manager.value.id in owned
            and node.attr != "visible_to"
        ):
            yield f"{manager.value.id}.objects.{node.attr} on line {node.lineno}"


# Rooms whose business is a store in both modes: its keys, and the checklist that asks whether
# anything was done at all.
BOTH_MODES = {"apps/api/keys.py", "apps/dashboard/keys.py", "apps/dashboard/go_live.py"}


@pytest.mark.parametrize("folder", ["apps/api", "apps/dashboard", "apps/hosted"])
def test_doors_reach_tenants_rows_through_seen_by_only(folder: str) -> None:
    found = {}
    for path in sources(folder):
        name = str(path.relative_to(ROOT))
        if path.suffix == ".py" and not any(name.startswith(one) for one in BOTH_MODES):
            found[name] = list(
                queries_outside_visible_to(ast.parse(path.read_text()), owned_models())
            )
    assert not {name: lines for name, lines in found.items() if lines}


def test_the_rule_about_seen_by_finds_what_it_should() -> None:
    assert list(
        queries_outside_visible_to(ast.parse("Payment.objects.filter(pk=1)"), {"Payment"})
    ) == ["Payment.objects.filter on line 1"]
    assert not list(
        queries_outside_visible_to(
            ast.parse("Payment.objects.visible_to(access).filter(pk=1)"), {"Payment"}
        )
    )


def test_every_table_of_a_tenant_has_store_mode_and_birth(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema ="
            " 'public'"
        )
        columns: dict[str, set[str]] = {}
        for table, column in cursor.fetchall():
            columns.setdefault(table, set()).add(column)
    for model in registry.get_models():
        if issubclass(model, Owned):
            assert {"id", "store_id", "mode", "created_at"} <= columns[model._meta.db_table]


def test_no_money_is_a_float_and_no_time_is_the_databases(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema ="
            " 'public' AND data_type IN ('double precision', 'real') AND table_name NOT LIKE"
            " 'otp_%'"
        )
        assert cursor.fetchall() == []
    for path in sources("apps"):
        if path.suffix == ".py" and "migrations" not in path.parts:
            assert not re.search(
                r"auto_now|functions import .*\bNow\b|\bNow\(\)", path.read_text()
            ), path


HTTP = (
    "apps/core/http.py",
    "apps/core/local_chain.py",
    "apps/core/net.py",
    "apps/core/posting.py",
)


def test_every_route_has_a_test() -> None:
    words = {
        word
        for path in sources("tests")
        if path.suffix == ".py"
        for word in re.findall(r"\w+", path.read_text())
    }
    parts = {route.path: re.findall(r"\w+", re.sub("<[^>]*>", "", route.path)) for route in ROUTES}
    assert [path for path, fixed in parts.items() if not words.issuperset(fixed)] == []


def test_the_files_that_start_first_are_there() -> None:
    assert [
        name for name in slow_first.LIST.read_text().split() if not (ROOT / name).exists()
    ] == []


def test_times_that_were_measured_make_the_list_of_the_files_that_start_first(
    tmp_path: Path,
) -> None:
    cases = (
        ("tests.test_house", 6.0),
        ("tests.core.test_net.TestIt", 4.0),
        ("tests.core.test_net", 3.5),
        ("tests.gone", 99),
        ("tests.test_walking", 5),
    )
    told = "".join(
        f'<testcase classname="{name}" name="one" time="{seconds}"/>' for name, seconds in cases
    )
    junit = tmp_path / "times.xml"
    junit.write_text(f"<testsuites><testsuite>{told}</testsuite></testsuites>")
    assert slow_first.slow_first(junit) == ["tests/core/test_net.py", "tests/test_house.py"]


def test_outbound_http_is_in_one_place() -> None:
    libraries = re.compile(
        r"^\s*(import|from) (requests|httpx|urllib3|urllib\.request|aiohttp|apps\.core\.http)\b",
        re.M,
    )
    for path in sources("apps"):
        name = str(path.relative_to(ROOT))
        if (
            path.suffix == ".py"
            and name not in HTTP
            and "/providers/" not in name
            and "/demo" not in name
        ):
            assert not libraries.search(path.read_text()), name


def test_nothing_tells_where_it_was_built() -> None:
    hosts = "|".join(("py" + "pi", "python" + "hosted", "npm" + "js"))
    words = "|".join(("index" + "-url", "/" + "work/", "shared" + "/spec"))
    traces = re.compile(rf"(?:{hosts})\.(?:org|com)|{words}")
    for path in sources("."):
        if path.suffix in (
            ".py",
            ".md",
            ".toml",
            ".txt",
            ".html",
            ".yaml",
            ".yml",
            ".sh",
            ".sql",
            ".example",
            "",
        ):
            found = traces.search(path.read_text(errors="ignore"))
            assert found is None, (path, found)


def test_templates_hold_no_inline_script_or_style_and_trust_no_input() -> None:
    bad = re.compile(
        r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]{3,}=|\|\s*safe\b|autoescape"
        r" off|hx-on|javascript:|\s[\w:-]+=\{\{"
    )
    for path in sources("templates"):
        found = bad.search(path.read_text())
        assert found is None or path.parts[-2] in ("pdf", "email"), (path, found)


def test_what_production_imports_is_what_production_installs() -> None:
    """Packages of the tests are there when tests run, and missing in the image."""
    brings = metadata.packages_distributions()
    pinned = set(
        re.findall(
            r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / "requirements" / "base.txt").read_text(), re.M
        )
    )
    local = {"dev/embedded.py", "dev/pytest_services.py"}
    for path in sources("apps", "config"):
        if path.suffix != ".py" or str(path.relative_to(ROOT)) in local:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += (
                [node.module]
                if isinstance(node, ast.ImportFrom) and node.module and not node.level
                else []
            )
            for name in {name.partition(".")[0] for name in names} & set(brings):
                from_where = {re.sub(r"[-_.]+", "-", one).lower() for one in brings[name]}
                assert from_where & pinned, f"{path.relative_to(ROOT)} imports {name}"


_REFUSALS = re.compile(r"\b(error|refusal|failure|exc|exception)$")
_READS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "get", "index"}


def texts_of_refusals_read(tree: ast.AST) -> Iterator[str]:
    """Where code goes on by what a refusal says: its text compared, looked into, looked up or taken
    apart."""
    caught = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name
    }

    def is_text(node: ast.AST) -> bool:
        """`str(error)`, `error.args[0]`, `error.text` or a call of one of those:
        `str(error).lower()`."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return is_text(node.func.value)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("str", "repr")
            and node.args
        ):
            return is_refusal(node.args[0])
        if isinstance(node, ast.Subscript):
            return is_text(node.value)
        return (
            isinstance(node, ast.Attribute)
            and node.attr in ("text", "args", "message")
            and is_refusal(node.value)
        )

    def is_refusal(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and (
            node.id in caught or _REFUSALS.search(node.id) is not None
        )

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            read = any(is_text(one) for one in (node.left, *node.comparators))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looked_up = node.func.attr in _READS and any(is_text(one) for one in node.args)
            read = looked_up or is_text(node.func.value)
        elif isinstance(node, ast.Subscript):
            read = is_text(node.slice)
        else:
            continue
        if read:
            yield f"line {node.lineno}"


def test_no_code_goes_on_by_what_a_refusal_says() -> None:
    found = {}
    for path in sources("apps"):
        if path.suffix == ".py" and "migrations" not in path.parts:
            found[str(path.relative_to(ROOT))] = list(
                texts_of_refusals_read(ast.parse(path.read_text()))
            )
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        '"429" in str(error)',
        'str(error) == "x"',
        '"revert" in str(error).lower()',
        'CODES.get(str(refusal).split(" ")[0])',
        "CODES[str(refusal)]",
        "PATTERN.search(str(error))",
        're.match("x", refusal.text)',
        'refusal.text.startswith("x")',
        'error.args[0] != "x"',
        'str(error).partition(" ")',
    ],
)
def test_the_rule_about_texts_of_refusals_finds_what_it_should(code: str) -> None:
    assert list(texts_of_refusals_read(ast.parse(code)))
    caught = (
        "try:\n    act()\nexcept Exception as it:\n   "
        f" {code.replace('refusal', 'it').replace('error', 'it')}"
    )
    assert list(texts_of_refusals_read(ast.parse(caught)))


@pytest.mark.parametrize(
    "code",
    [
        "log.error(error=str(error)[:200])",
        "raise Flat(str(refusal))",
        "error.code is REVERTED",
        "found.get(error)",
    ],
)
def test_the_rule_about_texts_of_refusals_lets_them_be_told(code: str) -> None:
    assert not list(texts_of_refusals_read(ast.parse(code)))


# Whoever asks somebody outside speaks HTTP itself; what is shown on the way in and out of Django is
# in these.
_HEADERS = {
    "retry-after",
    "www-authenticate",
    "idempotent-replayed",
    "x-ratelimit-limit",
    "cache-control",
}
_WEB_OF_CORE = {"web", "staff", "admin.py", "outage.py", "buckets.py"}


def http_of_answers(tree: ast.AST) -> Iterator[str]:
    """A status of a refusal (400 to 599) and the names of headers that go out with an answer."""

    def is_status(node: ast.AST | None) -> bool:
        return (
            isinstance(node, ast.Constant) and type(node.value) is int and 400 <= node.value < 600
        )

    def pairs(target: ast.AST, value: ast.AST | None) -> Iterator[tuple[ast.AST, ast.AST | None]]:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts, strict=False)
        else:
            yield target, value

    for node in ast.walk(tree):
        found: list[tuple[str, ast.AST | None]] = []
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = [
                (ast.unparse(name), value)
                for target in targets
                for name, value in pairs(target, node.value)
            ]
        elif isinstance(node, ast.Call):
            found = [(word.arg or "", word.value) for word in node.keywords]
        elif isinstance(node, ast.arguments):
            names = [*node.posonlyargs, *node.args][
                len(node.posonlyargs) + len(node.args) - len(node.defaults) :
            ]
            found = [
                (one.arg, value)
                for one, value in zip(
                    [*names, *node.kwonlyargs], [*node.defaults, *node.kw_defaults], strict=True
                )
            ]
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.lower() in _HEADERS
        ):
            yield f"line {node.lineno}"
        if any("status" in name and is_status(value) for name, value in found):
            yield f"line {node.lineno}" if hasattr(node, "lineno") else "a default"


def test_domain_apps_know_no_status_and_no_header() -> None:
    doors = {"api", "dashboard", "hosted", "console", "docs", "mcp"}
    found = {}
    for path in sources("apps"):
        name = path.relative_to(ROOT)
        is_web = name.parts[1] in doors or (
            name.parts[1] == "core" and not _WEB_OF_CORE.isdisjoint(name.parts)
        )
        if (
            path.suffix == ".py"
            and not is_web
            and "migrations" not in path.parts
            and "providers" not in path.parts
        ):
            found[str(name)] = list(http_of_answers(ast.parse(path.read_text())))
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        "status = 403",
        'status, message = 409, "x"',
        "Coded(status=503)",
        'Coded(headers={"Retry-After": "5"})',
        "def refuse(text, *, status: int = 400): ...",
        "def refuse(status=422): ...",
        "http_status: int = 404",
        'x["WWW-Authenticate"] = 1',
    ],
)
def test_the_rule_about_statuses_finds_what_it_should(code: str) -> None:
    assert list(http_of_answers(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "status = PENDING",
        "limit = 500",
        'status, limit = "open", 400',
        "retry_after=5",
        "Text(500, status=1)",
    ],
)
def test_the_rule_about_statuses_finds_nothing_else(code: str) -> None:
    assert not list(http_of_answers(ast.parse(code)))


def statuses_written(tree: ast.AST) -> Iterator[str]:
    """A status that is assigned, or updated by a query."""

    def is_status(node: ast.AST) -> bool:
        own = (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        )
        return isinstance(node, ast.Attribute) and node.attr == "status" and not own

    def names(call: ast.Call) -> Iterator[object]:
        yield from (word.arg for word in call.keywords)
        given = [*call.args, *(word.value for word in call.keywords if word.arg is None)]
        yield from (
            word.value for one in given for word in ast.walk(one) if isinstance(word, ast.Constant)
        )

    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(
                is_status(one)
                for target in targets
                for one in (target.elts if isinstance(target, ast.Tuple) else [target])
            ):
                yield f"line {node.lineno}"
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") in ("update", "bulk_update")
            and "status" in names(node)
        ):
            yield f"line {node.lineno}"


def test_a_status_changes_through_its_machine() -> None:
    """A row's; forms and answers have one of HTTP."""
    found = {}
    for path in sources("apps"):
        name = str(path.relative_to(ROOT))
        is_web = (
            name.startswith(("apps/api/", "apps/dashboard/", "apps/hosted/"))
            or name == "apps/core/web/forms.py"
        )
        if (
            path.suffix == ".py"
            and not is_web
            and "migrations" not in path.parts
            and name != "apps/core/machine.py"
        ):
            found[name] = list(statuses_written(ast.parse(path.read_text())))
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        'row.status = "paid"',
        'row.status, row.at = "paid", at',
        "rows.filter(pk=1).update(status=PAID, at=at)",
        "row.status: str = PAID",
        'Row.objects.bulk_update(rows, ["status", "at"])',
        'rows.update(**{"status": PAID})',
    ],
)
def test_the_rule_about_changes_of_status_finds_what_it_should(code: str) -> None:
    assert list(statuses_written(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "rows.filter(status=PAID).update(at=at)",
        "Row(status=PAID)",
        "row.handled_status = PAID",
        "self.status = 1",
    ],
)
def test_the_rule_about_changes_of_status_finds_nothing_else(code: str) -> None:
    assert not list(statuses_written(ast.parse(code)))


def test_every_machine_with_a_history_has_somebody_who_writes_it() -> None:
    """`has_history=False` stands with its reason at the table."""
    for path in sources("apps"):
        if path.name in ("tasks.py", "states.py"):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    machines = {
        id(machine): f"{module.__name__}.{name}"
        for module in list(sys.modules.values())
        if module.__name__.startswith("apps.")
        for name, machine in vars(module).items()
        if isinstance(machine, Machine) and machine.has_history and machine._recorder is None
    }
    assert not machines


# What JSON schemas, free-form objects and other people's interfaces are made of, each with its
# reason at its line. Going down is welcome.
ANY_DICTS_MAX = 5


def test_dicts_of_anything_become_fewer() -> None:
    """mypy sees nothing of what stands in one: a class, a TypedDict or a Mapping[str, object] says
    more."""
    found = [
        path
        for path in sources("apps")
        if path.suffix == ".py"
        for _ in re.findall(r"dict\[str, Any\]", path.read_text())
    ]
    assert len(found) <= ANY_DICTS_MAX
