"""Variables that a shell has for other programs neither steer nor break the demo and the tests, and
only a database of ours is migrated."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dev import shell
from tests import postgres

ROOT = Path(__file__).resolve().parents[2]
GENERIC = {
    "DATABASE_URL": "postgresql://dev@localhost/shop",
    "DATABASE_POOLER": "yes please",
    "REDIS_URL": "redis://localhost/9",
    "ALLOWED_HOSTS": "foo",
    "DJANGO_SETTINGS_MODULE": "mysite.settings",
    "S3_BUCKET": "photos",
    "EMAIL_HOST": "smtp.example.com",
    "LOG_LEVEL": "debug",
}
pytestmark = pytest.mark.direct


@pytest.fixture
def _shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if shell._is_generic(name)]:
        monkeypatch.delenv(name)
    for name, value in GENERIC.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CHAIN_ETHEREUM_URL", "http://127.0.0.1:1")


@pytest.mark.usefixtures("_shell")
def test_variables_of_other_programs_are_left_behind_and_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shell.leave_behind(["-k", "refund"]) == ["-k", "refund"]
    assert not set(GENERIC) & set(os.environ)
    assert os.environ["CHAIN_ETHEREUM_URL"] == "http://127.0.0.1:1", "nobody else has that name"
    assert (
        capsys.readouterr().err == f"{', '.join(sorted(GENERIC))} of your shell are ignored;"
        " --database and --redis name others\n"
    )


@pytest.mark.usefixtures("_shell")
def test_flags_name_other_services(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["--port", "1", "--database=postgresql://me@localhost/mine", "--redis", "redis://r/1"]
    assert shell.leave_behind(given) == ["--port", "1"]
    assert os.environ["DATABASE_URL"] == "postgresql://me@localhost/mine"
    assert os.environ["REDIS_URL"] == "redis://r/1"
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.delenv("REDIS_URL")


@pytest.mark.parametrize("given", [["--database"], ["--redis", "-x"], ["--database=shop"]])
@pytest.mark.usefixtures("_shell")
def test_a_flag_without_an_address_is_one_line(given: list[str]) -> None:
    with pytest.raises(shell.FlagWithoutAddress, match="needs an address, for example --"):
        shell.leave_behind(given)


@pytest.fixture
def shop(django_db_setup: None) -> Iterator[str]:
    """The database of another Django project."""
    with psycopg.connect(postgres.direct_url(), autocommit=True) as client:
        client.execute("CREATE DATABASE shop")
    url = postgres.direct_url("shop")
    with psycopg.connect(url, autocommit=True) as client:
        client.execute("CREATE TABLE auth_user (id int)")
        client.execute("CREATE TABLE orders (id int)")
    yield url
    with psycopg.connect(postgres.direct_url(), autocommit=True) as client:
        client.execute("DROP DATABASE shop WITH (FORCE)")


def test_a_database_with_tables_of_another_program_is_refused_by_name(
    shop: str, tmp_path: Path
) -> None:
    run = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--skip-checks"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": shop, "TILLGATE_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert "The database shop holds tables of another program (auth_user, orders)" in run.stderr
    with psycopg.connect(shop) as client:
        tables = client.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND"
            " relnamespace = 'public'::regnamespace ORDER BY 1"
        ).fetchall()
    assert tables == [("auth_user",), ("orders",)]


@pytest.mark.parametrize(
    "address",
    ["postgresql://dev:secret@127.0.0.1:9/shop", "postgresql://dev:secret@nowhere.invalid/shop"],
)
def test_a_database_that_nobody_reaches_is_one_line(address: str) -> None:
    """As the README's last command says in a shell that names another program's."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "verify_ledger", "--chain"],
        env={**os.environ, "DATABASE_URL": address, "DATABASE_DIRECT_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("PostgreSQL doesn't answer: ")
    assert line.endswith("without DATABASE_URL in the environment it is the demo's")
    assert "secret" not in line
