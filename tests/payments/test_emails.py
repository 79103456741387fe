"""Payments are found by the email that their metadata names: the database keeps it true for every
writer. That an index answers is in test_among_many.py."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from apps.core import clock
from apps.payments.models import Payment, PaymentEmail
from tests import make
from tests.cast import Cast, Shop

MIGRATION = import_module("apps.payments.migrations.0007_emails_so_far")


def emails() -> dict[str, str]:
    return {str(row.pk): row.email for row in PaymentEmail.objects.all()}


def test_the_row_of_an_email_is_what_the_payment_says_whoever_writes(bakery: Shop) -> None:
    named = make.payment(bakery.test, metadata={"customer_email": "Ann@Rye.example"})["id"]
    other = make.payment(bakery.test, metadata={"cart": "42"})["id"]
    assert emails() == {named: "ann@rye.example"}

    at = clock.real_now()
    payment = Payment.objects.filter(pk=named)
    payment.update(metadata={"customer_email": "x" * 300}, mode="live", created_at=at)
    Payment.objects.filter(pk=other).update(metadata={"customer_email": "bob@rye.example"})
    assert emails() == {named: "x" * 254, other: "bob@rye.example"}
    row = PaymentEmail.objects.get(pk=named)
    assert (row.store_id, row.mode, row.created_at) == (bakery.store.pk, "live", at)

    payment.update(metadata={"customer_email": None})
    Payment.objects.filter(pk=other).update(metadata={})
    assert emails() == {}


def test_a_change_of_something_else_writes_no_row(bakery: Shop) -> None:
    named = make.payment(bakery.test, metadata={"customer_email": "ann@rye.example"})
    PaymentEmail.objects.all().delete()
    make.simulated(bakery.test, named["id"])
    Payment.objects.get(pk=named["id"]).save()
    assert emails() == {}


def test_what_was_there_before_is_written_part_by_part(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Ann", "Bob", "Eve"):
        contact = {"customer_email": f"{name}@rye.example"}
        make.payment(cast.bakery.test, metadata=contact)
        make.payment(cast.strangers.live, metadata=contact)
        make.payment(cast.bakery.test)
    every = list(PaymentEmail.objects.order_by("pk").values())
    assert len(every) == 6
    PaymentEmail.objects.exclude(pk=every[2]["payment_id"]).delete()

    monkeypatch.setattr(MIGRATION, "PART", 2)
    MIGRATION.fill(None, SimpleNamespace(connection=connection))

    assert list(PaymentEmail.objects.order_by("pk").values()) == every
