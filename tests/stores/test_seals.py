"""The seals over the audit log: committed rows are sealed in order, and the database's owner can't
change them unseen."""

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from apps.access import services
from apps.core import clock
from apps.stores.auditing import seals
from apps.stores.auditing.audit import record
from apps.stores.models import AuditEntry, AuditSeal
from tests.auditing import found_of
from tests.cast import Shop


@pytest.fixture
def sealed(bakery: Shop) -> Shop:
    """Three seals, an hour apart, and a line that has none yet."""
    begin = clock.real_now() - timedelta(hours=3)
    for hour in range(3):
        with time_machine.travel(begin + timedelta(hours=hour), tick=True):
            for number in range(2):
                record(
                    "test.noted",
                    store=bakery.store,
                    name=f'{hour}.{number} \u2028 \\ "ä"',
                    details={"n": [number, None, True]},
                )
            assert seals.seal_lines(clock.real_now()) == 1
    record("test.noted", store=bakery.store, name="last")
    return bakery


def findings() -> list[str]:
    return [f"{item.subject}: {item.detail}" for item in found_of("audit_log_sealed")]


def owner(sql: str, *values: Any) -> None:
    """Acts that only the owner of the database can do: with the triggers off."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql, values)
        cursor.execute("SET LOCAL session_replication_role = origin")


def test_every_committed_line_is_sealed_once_in_order(sealed: Shop) -> None:
    rows = list(AuditSeal.objects.order_by("number"))
    assert [row.number for row in rows] == [1, 2, 3] and rows[0].previous == seals.FIRST
    assert [row.previous for row in rows[1:]] == [row.seal for row in rows[:-1]]
    assert findings() == []
    assert seals.seal_lines(clock.real_now()) == 1 and seals.seal_lines(clock.real_now()) == 0
    every = [id for audit_seal in AuditSeal.objects.all() for id in audit_seal.entry_ids]
    assert sorted(every) == sorted(AuditEntry.objects.values_list("pk", flat=True))
    assert findings() == []


def test_the_hash_is_what_operators_are_told(sealed: Shop) -> None:
    """Computed here without the database, from the words of docs/operators.md."""
    one = AuditSeal.objects.get(number=2)
    lines = []
    for entry in AuditEntry.objects.filter(pk__in=one.entry_ids).order_by("pk"):
        columns = [field.attname for field in AuditEntry._meta.concrete_fields]
        values = [getattr(entry, name) for name in columns]
        plain = [
            value
            if isinstance(value, (int, dict))
            else moment(value)
            if name == "at"
            else value and str(value)
            for name, value in zip(columns, values, strict=True)
        ]
        lines.append(json.dumps(plain, ensure_ascii=False))
    text = "\n".join([str(one.number), moment(one.sealed_at), one.previous, *lines])
    assert hashlib.sha256(text.encode()).hexdigest() == one.seal


def moment(value: Any) -> str:
    return f"{value:%Y-%m-%dT%H:%M:%S.%f}"


def slip_in(at: Any) -> None:
    line = AuditEntry.objects.order_by("id").first()
    assert line is not None
    columns = {
        field.attname: getattr(line, field.attname)
        for field in AuditEntry._meta.concrete_fields
        if field.attname != "id"
    }
    AuditEntry.objects.create(**{**columns, "at": at})


CORRUPTIONS = {
    "a changed line": (
        "UPDATE stores_auditentry SET actor_name = 'nobody' WHERE id = %s",
        "its lines are not those",
    ),
    "changed details": (
        "UPDATE stores_auditentry SET details = '{\"n\": 5}' WHERE id = %s",
        "its lines are not those",
    ),
    "a removed line": ("DELETE FROM stores_auditentry WHERE id = %s", "its lines are not those"),
    "a seal that no longer names a line": (
        "UPDATE stores_auditseal SET entry_ids = array_remove(entry_ids, %s) WHERE number = 2",
        "its lines are not those",
    ),
    "a line that is sealed twice": (
        "UPDATE stores_auditseal SET entry_ids = entry_ids || %s::bigint WHERE number = 3",
        "it is sealed 2 times",
    ),
    "a removed seal": (
        "DELETE FROM stores_auditseal WHERE number = 2 AND %s > 0",
        "it doesn't follow the seal before it",
    ),
    "a changed moment of a seal": (
        "UPDATE stores_auditseal SET sealed_at = now() WHERE number = 2 AND %s > 0",
        "its lines are not those",
    ),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_what_who_owns_the_database_does_is_found(sealed: Shop, name: str) -> None:
    sql, told = CORRUPTIONS[name]
    owner(sql, AuditSeal.objects.get(number=2).entry_ids[0])
    found = findings()
    assert any(told in item for item in found), found


def test_a_line_slipped_into_the_past_is_found(sealed: Shop) -> None:
    slip_in(clock.real_now() - timedelta(days=2))
    assert any("it has no seal" in finding for finding in findings()), "before it is sealed"
    seals.seal_lines(clock.real_now())
    assert any("it is older than the seal before its own" in finding for finding in findings()), (
        "and afterwards"
    )


def test_one_who_seals_everything_anew_is_found_by_a_seal_kept_elsewhere(
    sealed: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = str(seals.newest())
    call_command("verify_ledger", seal=kept)
    assert f"newest seal of the audit log: {kept}" in capsys.readouterr().out
    owner(
        "UPDATE stores_auditentry SET actor_name = 'nobody' WHERE id = %s",
        AuditSeal.objects.get(number=3).entry_ids[0],
    )
    owner("DELETE FROM stores_auditseal WHERE number = 3")
    seals.seal_lines(clock.real_now())
    assert findings() == []
    with pytest.raises(SystemExit):
        call_command("verify_ledger", seal=kept)
    assert "neither the log nor the payments have it" in capsys.readouterr().out


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE stores_auditseal SET seal = ''",
        "DELETE FROM stores_auditseal",
        "TRUNCATE stores_auditseal",
    ],
)
def test_the_database_refuses_to_change_a_seal(sealed: Shop, sql: str) -> None:
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)


def test_many_lines_take_many_seals_and_none_is_lost(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seals, "LINES_MAX", 2)
    for _ in range(3):
        services.create_api_key(bakery.store, "test")
    before = AuditEntry.objects.count()
    assert seals.seal_lines(clock.real_now()) == -(-before // 2)
    assert sum(len(audit_seal.entry_ids) for audit_seal in AuditSeal.objects.all()) == before
