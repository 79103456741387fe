"""What the benchmarks share: a database of their own beside the tests', and a table on the terminal."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def bench_database() -> Iterator[None]:
    """Services, Django and a fresh test database with rates; everything is dropped afterwards."""
    os.environ.setdefault("TILLGATE_ENV", "test")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config import embedded

    embedded.ensure((embedded.POSTGRES, embedded.REDIS), mode=embedded.TEST)
    import django

    django.setup()
    from django.test.runner import DiscoverRunner
    from django.test.utils import setup_test_environment

    setup_test_environment(debug=False)
    runner = DiscoverRunner(verbosity=0, interactive=False)
    old = runner.setup_databases()
    try:
        from apps.assets.rates import refresh

        refresh()
        yield
    finally:
        runner.teardown_databases(old)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell."""
    widths = [max(len(str(row[n])) for row in [head, *rows]) for n in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)))
