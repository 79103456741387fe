"""The database that reads the books of several servers: a PostgreSQL with postgres_fdw, with the
files of deploy/shards."""

import os
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

from dev import machine
from tests.replicas import OtherCluster
from tests.stack import ROOT

FILES = ROOT / "deploy" / "shards"
_OWN_SUMS = """
SELECT a.mode, a.asset_id, sum(e.amount_atomic) FILTER (WHERE e.amount_atomic < 0),
    sum(e.amount_atomic) FILTER (WHERE e.amount_atomic > 0), sum(e.amount_atomic)
FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id GROUP BY 1, 2 ORDER BY 1, 2
"""


def run_sql(url: str, name: str, **variables: str) -> None:
    """A file of deploy/shards, as operators run it."""
    assigned = [f"--set={key}={value}" for key, value in variables.items()]
    program = Path(str(machine.postgres_with_fdw())) / "psql"
    run = subprocess.run(
        [str(program), url, "--no-psqlrc", "--quiet", *assigned, "--file", str(FILES / name)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"},
    )
    assert run.returncode == 0, run.stderr


def own_sums(url: str) -> list[tuple[object, ...]]:
    """A server's own sums of its ledger: (mode, asset, debits, credits, difference)."""
    with psycopg.connect(url) as there:
        return there.execute(_OWN_SUMS).fetchall()


class Federation(OtherCluster):
    """A server of its own, on the socket folder's user of the first server of `urls`, which maps
    shards to the addresses of their servers' owners."""

    def __init__(self, urls: dict[str, str]) -> None:
        super().__init__(next(iter(urls.values())), "federation")
        run_sql(self.url, "federation.sql")
        for shard, url in urls.items():
            self.add(shard, url)

    def _installed(self) -> Path:
        return Path(str(machine.postgres_with_fdw()))

    def add(self, shard: str, url: str) -> None:
        run_sql(url, "server.sql", shard=shard)
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        run_sql(
            self.url,
            "add_server.sql",
            shard=shard,
            host=str(query.get("host", [parts.hostname])[0]),
            port=str(query.get("port", [parts.port or 5432])[0]),
            dbname=parts.path.lstrip("/"),
            password="",
        )

    def trial_balance(self) -> list[tuple[object, ...]]:
        """(shard, mode, asset, debits, credits, difference)."""
        return self.ask("SELECT * FROM trial_balance ORDER BY shard, mode, asset_id")
