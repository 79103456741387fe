"""A mandate that ends while many draw on it: nothing is drawn after the end, and what was drawn is
what the books say."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.access.services import authenticate
from apps.agents.models import Mandate, Settlement
from apps.agents.requests.mandates import MandateRequest, SettlementRequest
from apps.agents.services.mandates import create_mandate, expire_mandates, revoke_mandate, status_at
from apps.agents.services.settle import create_settlement
from apps.core.errors import Failure
from apps.ledger.selectors import balances
from apps.stores.settings import write_settings
from tests import make
from tests.cast import Cast, person, shop_of

DRAWERS = 6
DRAWS = 15


def revoke(mandate: Mandate) -> None:
    revoke_mandate(mandate)


def let_it_expire(mandate: Mandate) -> None:
    Mandate.objects.filter(pk=mandate.pk).update(
        expires_at=mandate.created_at - timedelta(seconds=1)
    )
    expire_mandates()


@pytest.mark.parametrize(("end", "status"), [(revoke, "revoked"), (let_it_expire, "expired")])
def test_nothing_is_drawn_once_a_mandate_has_ended(
    end: Callable[[Mandate], None], status: str, django_db_setup: None, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock():
        shop = shop_of(person("alice"), "Ends")
        write_settings(shop.store, {"authorization_provider": "policy"})
        make.paid(shop.test, amount="100.00")
        before = balances(shop.store.pk, "test")["SETH"].available_atomic
        access = authenticate(shop.secrets["test_agent"], for_agents=True)
        mandate, _ = create_mandate(
            access,
            MandateRequest(asset_id="SETH", total_cap_atomic=100_000, mandate_ref="books"),
            None,
        )
        told: list[str] = []
        some_are_drawn = threading.Semaphore(0)

        def draw(drawer: int) -> None:
            for number in range(DRAWS):
                try:
                    request = SettlementRequest(
                        asset_id="SETH", mandate_ref="books", amount_atomic=7
                    )
                    create_settlement(access, request, f"key {drawer} {number}")
                    told.append("drawn")
                    some_are_drawn.release()
                except Failure as refusal:
                    told.append(str(refusal.code))
            connection.close()

        threads = [threading.Thread(target=draw, args=[drawer]) for drawer in range(DRAWERS)]
        for thread in threads:
            thread.start()
        for _ in range(DRAWERS):
            assert some_are_drawn.acquire(timeout=60)
        end(mandate)
        spent_at_the_end = Mandate.objects.get(pk=mandate.pk).spent_atomic
        for thread in threads:
            thread.join(60)
        row = Mandate.objects.get(pk=mandate.pk)
        assert (row.status, row.spent_atomic) == (status, spent_at_the_end)
        assert len(told) == DRAWERS * DRAWS and set(told) == {"drawn", "mandate_required"}
        assert (
            row.spent_atomic
            == 7 * told.count("drawn")
            == 7 * Settlement.objects.filter(mandate=row).count()
        )
        assert balances(shop.store.pk, "test")["SETH"].available_atomic == before - row.spent_atomic


def test_a_mandate_has_ended_at_the_very_moment_of_its_end(cast: Cast) -> None:
    write_settings(cast.bakery.store, {"authorization_provider": "policy"})
    access = authenticate(cast.bakery.secrets["test_agent"], for_agents=True)
    mandate, _ = create_mandate(
        access, MandateRequest(asset_id="SETH", total_cap_atomic=1, mandate_ref="books"), None
    )
    moments = [mandate.expires_at - timedelta(microseconds=1), mandate.expires_at]
    assert [status_at(mandate, at) for at in moments] == ["active", "expired"]
