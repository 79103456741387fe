"""The audit log: every sensitive act leaves a line with who did it, in the act's own transaction,
and no line ever changes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from apps.access import services
from apps.access.authorization import apps as oauth_apps
from apps.access.factors import second_factor
from apps.access.requests import AppChanges, AppRequest
from apps.assets.audit_details import detail_lines
from apps.assets.services import set_accepted
from apps.core import acting, clock
from apps.stores import branding
from apps.stores.audit_words import action_words
from apps.stores.auditing import audit
from apps.stores.models import AuditEntry, User
from apps.stores.services import change_checkout, change_password, change_store
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services import endpoints
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser

APP = {
    "name": "Till",
    "confidential": True,
    "redirect_uris": ["https://till.example/back"],
    "scopes": ["payments:read"],
}
CHECKOUT = {
    "settlement_currency": "USD",
    "support_email": "",
    "support_phone": "",
    "customer_pays_fee": False,
}


def newest() -> AuditEntry:
    found = AuditEntry.objects.order_by("-id").first()
    assert found is not None
    return found


def endpoint_of(shop: Shop) -> Any:
    body = EndpointRequest(
        url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]
    )
    return endpoints.register_endpoint(shop.access("test"), body).endpoint


def app_of(cast: Cast) -> Any:
    return oauth_apps.create_app(cast.bakery.store, cast.alice, AppRequest(**APP))[0]


ACTS: list[tuple[str, Callable[[Cast], object]]] = [
    ("api_key.created", lambda cast: services.create_api_key(cast.bakery.store, "test")),
    (
        "api_key.revoked",
        lambda cast: services.revoke_api_key(
            services.create_api_key(cast.bakery.store, "test")[0], clock.real_now()
        ),
    ),
    (
        "agent_credential.created",
        lambda cast: services.create_agent_credential(cast.bakery.store, "test"),
    ),
    ("oauth_app.created", app_of),
    (
        "oauth_app.changed",
        lambda cast: oauth_apps.change_app(app_of(cast), AppChanges(name="Till 2")),
    ),
    ("oauth_app.rotated", lambda cast: oauth_apps.rotate_secret(app_of(cast))),
    (
        "oauth_app.deactivated",
        lambda cast: oauth_apps.deactivate_app(app_of(cast), clock.real_now()),
    ),
    ("webhook_endpoint.created", lambda cast: endpoint_of(cast.bakery)),
    (
        "webhook_endpoint.secret_rotated",
        lambda cast: endpoints.rotate_secret(endpoint_of(cast.bakery), clock.real_now()),
    ),
    (
        "webhook_endpoint.disabled",
        lambda cast: endpoints.disable_endpoint(endpoint_of(cast.bakery), clock.real_now()),
    ),
    (
        "webhook_endpoint.deleted",
        lambda cast: endpoints.delete_endpoint(endpoint_of(cast.bakery), clock.real_now()),
    ),
    ("store.changed", lambda cast: change_store(cast.bakery.store, accept_underpayments=True)),
    (
        "store.changed",
        lambda cast: branding.change_branding(
            cast.bakery.store, brand_name="B", primary_color="", secondary_color=""
        ),
    ),
    (
        "asset.no_longer_accepted",
        lambda cast: set_accepted(cast.bakery.access("live"), "ETH", False),
    ),
    ("password.changed", lambda cast: change_password(cast.alice, "another horse battery")),
    ("second_factor.removed", lambda cast: second_factor.take_off(cast.alice)),
]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("oauth_app.created", "App created"),
        ("api_key.revoked", "API key revoked"),
        ("payout_destination.added", "Payout destination added"),
        ("invoice.written_off", "Invoice written off"),
        ("store.changed", "Settings changed"),
        ("member.role_changed", "Role of a team member changed"),
        ("later.made_up", "Later made up"),
    ],
)
def test_an_action_is_read_as_a_sentence(action: str, words: str) -> None:
    assert action_words(action) == words


def test_the_log_of_a_store_shows_no_code(cast: Cast) -> None:
    change_store(cast.bakery.store, accept_underpayments=True)
    page = Browser(cast.alice).get("audit-log").content.decode()
    assert ">Settings changed</span>" in page and ">store.changed<" not in page


def test_the_log_of_a_store_names_a_coin_as_its_other_pages_do(cast: Cast) -> None:
    fields = {"asset_id": "SETH", "frequency": "weekly", "destination_address": "0x" + "5a" * 20}
    cast.bakery.test.post("/payout_schedules", {"payout_schedule": fields})
    page = Browser(cast.alice).get("audit-log").content.decode()
    assert "Payout schedule created" in page
    assert "<bdi>ETH on Ethereum Sepolia</bdi>" in page and "<bdi>SETH</bdi>" not in page


def test_the_log_of_a_store_names_people_and_cuts_what_is_long(cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(name="Alice Baker")
    browser = Browser(cast.alice)
    reason = "Our merchants are bakeries. " * 10
    assert browser.post("platform/ask", reason=reason).status_code == 303
    customer = billing.customer(cast.bakery.test, email="long@" + "sub." * 20 + "example.com")
    billing.draft(cast.bakery.test, customer_id=customer["id"])
    made = billing.product(cast.bakery.test, name="Donauwelle " * 9)
    billing.price(cast.bakery.test, made["id"])
    page = browser.get("audit-log").content.decode().replace("<wbr>", "")
    assert "<bdi>Alice Baker</bdi><br>" in page
    assert cast.alice.email in page
    shown, _, details = page.partition("Platform access requested")[2].partition("<details")
    assert reason.strip() not in shown and reason.strip() in details.partition("</details>")[0]
    assert "<bdi>Draft of €10.00 for long@sub." in page
    assert "<bdi>€10.00 monthly for Donauwelle" in page


@pytest.mark.parametrize(
    ("details", "line"),
    [
        ({"fee_fraction": ["0.01000000", "0.0125"]}, ("Fee", "1% → 1.25%")),
        ({"accept_underpayments": [False, True]}, ("Underpayments are accepted", "No → Yes")),
        ({"support_email": ["", "a@b.example"]}, ("Support email", "None → a@b.example")),
        ({"scopes": ["payments:read", "profile"]}, ("Scopes", "payments:read, profile")),
        ({"scopes": [["profile"], []]}, ("Scopes", "profile → None")),
        ({"role": ["viewer", "admin"]}, ("Role", "Viewer → Admin")),
        ({"role": "admin"}, ("Role", "Admin")),
        ({"roles": ["none", "finance, support"]}, ("Roles", "None → Finance, Support")),
        ({"overpayment_tolerance_bps": [100, 250]}, ("Overpayment tolerance", "1% → 2.5%")),
        ({"minimum_fiat_cents": "50000"}, ("Minimum payout", "500.00")),
        (
            {"next_payout_at": "2026-11-30 16:06:28.98+00:00"},
            ("Next payout", "30 November 2026, 16:06 UTC"),
        ),
        ({"next_payout_at": "soon"}, ("Next payout", "soon")),
    ],
)
def test_details_are_read_in_words(details: dict[str, Any], line: tuple[str, str]) -> None:
    ((name, value),) = detail_lines(details)
    assert (name, value.replace("\xa0", " ")) == line


@pytest.mark.parametrize(
    ("action", "act"), ACTS, ids=[f"{n}-{action}" for n, (action, _) in enumerate(ACTS)]
)
def test_each_sensitive_act_leaves_a_line_without_a_secret(
    action: str, act: Callable[[Cast], object], cast: Cast
) -> None:
    act(cast)
    line = newest()
    assert line.action == action
    assert not any(
        secret in str(vars(line))
        for secret in ("svc_sk_live", "svc_sk_test_", "whsec_", "svccs_", "argon2")
    )


def test_a_key_that_refunds_is_named_with_its_address_and_request(bakery: Shop) -> None:
    paid = make.paid(bakery.test)
    make.paid(bakery.test)
    asked = bakery.test.post(
        f"/payments/{paid['id']}/refunds", {"destination_address": "0x" + "7b" * 20}, key="r1"
    )
    assert asked.status_code == 201, asked.content
    line = newest()
    assert (line.action, line.actor_kind, line.actor_id) == (
        "refund.requested",
        "key",
        str(bakery.access().credential_id),
    )
    assert (line.address, line.request_id) == ("127.0.0.1", asked.headers["X-Request-Id"])
    assert (line.store_id, line.mode, line.target_name) == (
        bakery.store.pk,
        "test",
        paid["reference"],
    )


def test_a_person_in_the_dashboard_and_an_operator_are_told_apart(cast: Cast) -> None:
    change_checkout(
        cast.bakery.store,
        **CHECKOUT,
        accept_overpayments=True,
        accept_underpayments=False,
        offers_new_quotes=True,
        publishable_key_amounts=False,
    )  # type: ignore[arg-type]
    assert newest().actor_kind == "system"
    browser = Browser(cast.alice)
    browser.post(
        "settings",
        settlement_currency="EUR",
        support_email="",
        accept_overpayments="on",
        offers_new_quotes="on",
    )
    line = newest()
    assert (line.action, line.actor_kind, line.actor_name) == (
        "store.changed",
        "person",
        cast.alice.email,
    )
    assert line.details == {"settlement_currency": ["USD", "EUR"]}
    call_command("set_store", "accept_underpayments=true", store=str(cast.bakery.store.pk))
    assert newest().actor_kind == "command" and newest().actor_name.startswith("set_store (")
    assert acting.current().kind == "system"


def test_a_change_that_changes_nothing_leaves_no_line(bakery: Shop) -> None:
    before = AuditEntry.objects.count()
    change_store(bakery.store, accept_underpayments=bakery.store.accept_underpayments)
    assert AuditEntry.objects.count() == before


def test_an_act_that_is_rolled_back_takes_its_line_with_it(bakery: Shop) -> None:
    before = AuditEntry.objects.count()
    with transaction.atomic():
        services.create_api_key(bakery.store, "test")
        transaction.set_rollback(True)
    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE stores_auditentry SET actor_name = 'nobody'",
        "DELETE FROM stores_auditentry",
        "TRUNCATE stores_auditentry",
    ],
)
def test_the_database_refuses_to_change_a_line(sql: str, bakery: Shop) -> None:
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)


def test_secrets_are_taken_out_of_the_details(bakery: Shop) -> None:
    audit.record(
        "test.noted",
        store=bakery.store,
        details={"client_secret": "x", "text": bakery.secrets["live"], "list": ["whsec_0123abcd"]},
    )
    assert newest().details == {
        "client_secret": "[redacted]",
        "text": "[redacted]",
        "list": ["[redacted]"],
    }


def test_the_room_is_for_those_who_manage_and_shows_one_store(cast: Cast) -> None:
    services.create_api_key(cast.bakery.store, "test", name="Till of the bakery")
    services.create_api_key(cast.strangers.store, "test", name="Till of a stranger")
    page = Browser(cast.alice).get("audit-log?action=api_key").content.decode()
    assert "Till of the bakery" in page and "Till of a stranger" not in page
    assert (
        "Till of the bakery"
        not in Browser(cast.alice).get("audit-log?action=refund").content.decode()
    )
    assert Browser(cast.bob).get("audit-log").status_code == 403
