"""Parts that the benchmarks share: a database of their own beside the tests', and a table on the
terminal."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def bench_database() -> Iterator[None]:
    """Services, Django and a fresh test database with rates; everything is dropped afterwards."""
    os.environ.setdefault("TILLGATE_ENV", "test")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from dev import embedded, template_database

    embedded.ensure((embedded.POSTGRES, embedded.REDIS), mode=embedded.TEST)
    import django

    django.setup()
    from django.db import connection
    from django.test.runner import DiscoverRunner
    from django.test.utils import setup_test_environment

    setup_test_environment(debug=False)
    connection.settings_dict["TEST"] |= template_database.for_tests(
        embedded.var_folder(embedded.TEST) / "postgres"
    )
    runner = DiscoverRunner(verbosity=0, interactive=False)
    old = runner.setup_databases()
    from apps.core.db import tenancy

    try:
        from apps.assets.rates import refresh

        refresh()
        yield
    finally:
        with tenancy.within(tenancy.NOBODY):  # dropping a database takes no scope along
            runner.teardown_databases(old)


def chain_program() -> str:
    """The local chain's program, brought when it is missing; ends with one line when it can't
    be."""
    from dev import anvil, bootstrap

    bootstrap.bring_chain()
    found = anvil.anvil_program()
    if found is None:
        sys.exit(
            "this benchmark needs a local chain: put anvil on the PATH, or name it in"
            " TILLGATE_ANVIL"
        )
    return found


def figure(name: str, value: float) -> None:
    """A line that `tests.bench.all` reads: one figure of its table, by its name there."""
    print(f"figure: {name} = {value:.4g}", flush=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell."""
    widths = [max(len(str(row[n])) for row in [head, *rows]) for n in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)))
