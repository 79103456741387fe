"""Operator commands: one JSON object on standard output, one line and exit 1 when refused."""

import base64
import json
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command

from apps.core import crypto
from apps.webhooks.models import Endpoint
from apps.webhooks.signing import secret_place
from tests.cast import Api, Shop


def run(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    printed: dict[str, Any] = json.loads(out.getvalue())
    return printed


def test_create_store_prints_what_an_integrator_needs_and_it_works(db: None) -> None:
    made = run(
        "create_store",
        "--name",
        "Shop",
        "--email",
        "o@example.com",
        "--password",
        "pw-0123456789",
        "--kyc",
        "--currency",
        "USD",
    )
    assert set(made) == {"store", "user", "keys", "agents"}
    assert Api(made["keys"]["test"]["secret"]).get("/payments").status_code == 200
    assert made["agents"]["live"].startswith("svca_live_")
    assert run(
        "create_api_key",
        "--store",
        made["store"]["id"],
        "--mode",
        "live",
        "--scopes",
        "payments:read",
    )["scopes"] == ["payments:read"]
    assert (
        len(
            run("create_agent_credential", "--store", made["store"]["id"], "--mode", "test")[
                "scopes"
            ]
        )
        == 8
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["create_store", "--name", " ", "--email", "o@example.com", "--password", "pw-0123456789"],
        ["create_store", "--name", "Shop", "--email", "nobody", "--password", "pw-0123456789"],
        [
            "create_store",
            "--name",
            "Shop",
            "--email",
            "o@example.com",
            "--password",
            "pw-0123456789",
            "--currency",
            "XXX",
        ],
        ["create_api_key", "--store", "00000000-0000-4000-8000-000000000000", "--mode", "test"],
        ["create_api_key", "--store", "nonsense", "--mode", "test"],
    ],
)
def test_a_refused_command_says_one_line_and_exits_1(
    db: None, capsys: Any, arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command(*arguments, "--json")
    told = capsys.readouterr()
    assert (ended.value.code, told.out, told.err.count("\n")) == (1, "", 1)


@pytest.mark.parametrize(
    "pair",
    [
        "unknown=1",
        "accept_overpayments=maybe",
        "underpayment_tolerance_bps=10001",
        "fee_percentage=1",
        "kyc",
    ],
)
def test_set_store_refuses_what_it_does_not_know(bakery: Shop, capsys: Any, pair: str) -> None:
    with pytest.raises(SystemExit):
        call_command("set_store", "--store", str(bakery.store.pk), pair, "--json")
    assert capsys.readouterr().err.count("\n") == 1


def test_set_store_sets_several_at_once(bakery: Shop) -> None:
    changed = run(
        "set_store",
        "--store",
        str(bakery.store.pk),
        "accept_overpayments=false",
        "fee_percentage=0.015",
        "kyc=true",
    )
    assert changed["changed"] == ["accept_overpayments", "fee_percentage", "kyc"]
    bakery.store.refresh_from_db()
    assert (bakery.store.accept_overpayments, str(bakery.store.fee_fraction)) == (
        False,
        "0.01500000",
    )
    assert bakery.store.kyc_confirmed_at is not None


def test_rotating_the_encryption_key_keeps_every_secret(bakery: Shop, settings: Any) -> None:
    body = {
        "webhook_endpoint": {"url": "https://1.1.1.1/hook", "subscribed_events": ["invoice.paid"]}
    }
    made = bakery.test.post("/webhook_endpoints", body).json()
    newer = "next:" + base64.urlsafe_b64encode(b"n" * 32).decode()
    settings.ENCRYPTION_KEYS = [newer, *settings.ENCRYPTION_KEYS]
    assert run("rotate_encryption_key")["resealed"]["webhooks_endpoint.sealed_secret"] >= 1
    settings.ENCRYPTION_KEYS = [newer]
    endpoint = Endpoint.objects.get(pk=made["id"])
    assert (
        crypto.decrypt(endpoint.sealed_secret, secret_place(endpoint.pk)) == made["signing_secret"]
    )
    assert run("rotate_encryption_key")["resealed"]["webhooks_endpoint.sealed_secret"] == 0


def test_a_sealed_secret_moved_elsewhere_does_not_open(bakery: Shop) -> None:
    sealed = crypto.encrypt("secret", "here")
    assert crypto.decrypt(sealed, "here") == "secret"
    with pytest.raises(ValueError, match="MAC check failed"):
        crypto.decrypt(sealed, "there")


def test_send_test_email_sends_one(db: None) -> None:
    assert run("send_test_email", "o@example.com") == {"sent_to": "o@example.com"}
    assert [message.to for message in mail.outbox] == [["o@example.com"]]
