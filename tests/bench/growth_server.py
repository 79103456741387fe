"""A PostgreSQL server of its own for towns of many payments, set as an operator sets one, and quick
to fill: what it holds may be lost in a crash."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# As docs/scaling.md says for a machine of 16 GB, but for what makes it last.
SETTINGS = {
    "shared_buffers": "3GB",
    "effective_cache_size": "8GB",
    "work_mem": "32MB",
    "hash_mem_multiplier": "4",
    "maintenance_work_mem": "768MB",
    "max_parallel_maintenance_workers": "1",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "30min",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "random_page_cost": "1.1",
    "autovacuum": "off",
}
# A payment with its part of everything, indexes and what filling takes besides.
BYTES_PER_PAYMENT = 9_000
BYTES_PER_SALE = 4_800
WHOLE_MAX = 1_000_000  # as tests/growth/seed.py, which needs Django
FREE_MIN = 8 * 10**9  # of the disk, whatever happens


def folder(payments: int) -> Path:
    return ROOT / "var" / "growth" / str(payments)


def refuse_what_does_not_fit(payments: int) -> None:
    """Ends with a sentence."""
    whole = min(payments, WHOLE_MAX)
    needed = whole * BYTES_PER_PAYMENT + (payments - whole) * BYTES_PER_SALE
    free = shutil.disk_usage(ROOT).free - FREE_MIN
    if needed > free:
        raise SystemExit(
            f"{payments:,} payments take about {needed / 10**9:,.0f} GB, and there are"
            f" {max(0, free) / 10**9:,.0f} GB beside what is to stay free"
        )


@contextmanager
def serving(payments: int) -> Iterator[Path]:
    """With Django set up: in the folder of that size, which is made when it isn't there."""
    home = folder(payments)
    os.environ["TILLGATE_VAR"] = str(home)
    os.environ.setdefault("TILLGATE_ENV", "test")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from dev import embedded, template_database

    data = home / "test" / "postgres"
    data.parent.mkdir(parents=True, exist_ok=True)
    if not data.exists():
        template_database.copy(data, lambda path: embedded._open_server(path, embedded.TEST))
        embedded._configure_postgres(data, embedded.TEST)
        with (data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
    server = embedded._open_server(data, embedded.TEST)
    try:
        embedded._make_database(server.get_uri(), embedded.TEST)
        os.environ[embedded.POSTGRES] = server.get_uri(database="tillgate")
        embedded.ensure((embedded.POSTGRES, embedded.REDIS), mode=embedded.TEST)
        _set_up()
        yield home
    finally:
        embedded.leave_all()
        server.stop()


def _set_up() -> None:
    import django

    django.setup()
    from django.test.utils import setup_test_environment

    setup_test_environment(debug=False)
    from tests import roles

    roles.install()


def remember(home: Path, place: Any) -> None:
    """Write down the people of the town, for a process that measures it later."""
    cast = place.world.cast
    shops = {"bakery": cast.bakery, "strangers": cast.strangers}
    known = {
        name: {"store": str(shop.store.pk), "owner": str(shop.owner.pk), "secrets": shop.secrets}
        for name, shop in shops.items()
    }
    (home / "town.json").write_text(json.dumps(known))


def recall(home: Path) -> Any:
    """The world of a town that is there."""
    from apps.stores.models import Store, User
    from tests.cast import Cast, Shop
    from tests.growth.world import World

    known = json.loads((home / "town.json").read_text())
    shops = {}
    for name, facts in known.items():
        shops[name] = Shop(
            Store.objects.get(pk=facts["store"]), User.objects.get(pk=facts["owner"])
        )
        shops[name].secrets.update(facts["secrets"])
    cast = Cast(shops["bakery"].owner, shops["bakery"])
    cast.strangers = shops["strangers"]
    return World(cast, cast.bakery)
