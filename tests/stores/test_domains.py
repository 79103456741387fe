"""A store's own checkout domain: proved by DNS, served for that store alone, stopped at once; the
DNS here is a small server of its own."""

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import dns.message
import dns.rcode
import dns.rrset
import pytest
import time_machine
from django.test import Client

from apps.core import clock
from apps.core.errors import ProviderError
from apps.stores import domains
from apps.stores.models import AuditEntry, Store
from apps.stores.providers.base import Resolver
from apps.stores.providers.dns import Dns
from apps.stores.providers.local import Local
from tests import make
from tests.cast import Cast, Shop, shop_of
from tests.dashboard.browse import Browser, unbroken

DOMAIN = "pay.bakery.example"
OURS = "localhost"


class Zone:
    """A name server on a port of its own: `records` are (name, type) -> texts; `is_broken` answers
    SERVFAIL."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, str], list[str]] = {}
        self.is_broken = False
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                packet, sender = self.socket.recvfrom(4096)
            except OSError:
                return
            self.socket.sendto(self._answer(dns.message.from_wire(packet)).to_wire(), sender)

    def _answer(self, query: Any) -> Any:
        answer = dns.message.make_response(query)
        question = query.question[0]
        name = str(question.name).rstrip(".")
        kind = dns.rdatatype.to_text(question.rdtype)
        if self.is_broken:
            answer.set_rcode(dns.rcode.SERVFAIL)
            return answer
        while (name, "CNAME") in self.records:
            target = self.records[name, "CNAME"][0]
            answer.answer.append(dns.rrset.from_text(f"{name}.", 60, "IN", "CNAME", f"{target}."))
            name = target
        if (name, kind) in self.records:
            answer.answer.append(
                dns.rrset.from_text_list(f"{name}.", 60, "IN", kind, self.records[name, kind])
            )
        elif not any(record == name for record, _ in self.records):
            answer.set_rcode(dns.rcode.NXDOMAIN)
        return answer

    def prove(self, store: Store) -> None:
        name, text = domains.proof(store)
        self.records[name, "TXT"] = ['"v=spf1 -all"', f'"{text}"']


@pytest.fixture
def zone(settings: Any) -> Iterator[Zone]:
    one = Zone()
    one.records[OURS, "A"] = ["127.0.0.1"]
    backend = {"BACKEND": "apps.stores.providers.dns.Dns", "OPTIONS": {"servers": [one.address]}}
    settings.PROVIDERS = {**settings.PROVIDERS, "dns": {"live": [backend]}}
    yield one
    one.socket.close()


@pytest.fixture
def served(bakery: Shop, zone: Zone) -> Store:
    """The bakery's domain, proved and leading here."""
    domains.set_domain(bakery.store, DOMAIN)
    zone.prove(bakery.store)
    zone.records[DOMAIN, "CNAME"] = [OURS]
    store = domains.check_domain(bakery.store, clock.real_now())
    assert store.checkout_domain_verified_at is not None
    return store


def at(path: str, host: str = DOMAIN, method: str = "get") -> Any:
    return getattr(Client(HTTP_HOST=host), method)(path)


@pytest.mark.parametrize("resolver", ["local", "dns"])
def test_every_source_of_answers_keeps_the_same_contract(resolver: str, zone: Zone) -> None:
    names: dict[str, tuple[Resolver, str]] = {
        "local": (Local(), "pay.localhost"),
        "dns": (Dns([zone.address]), DOMAIN),
    }
    source, domain = names[resolver]
    zone.records[DOMAIN, "CNAME"] = [OURS]
    zone.records[f"_tillgate.{DOMAIN}", "TXT"] = ['"tillgate-domain=1"']
    assert source.has_text(f"_tillgate.{domain}", "tillgate-domain=1") and source.leads_to(
        domain, OURS
    )
    assert not source.has_text(
        "_tillgate.other.example", "tillgate-domain=1"
    ) and not source.leads_to("other.example", OURS)


def test_a_name_with_our_address_leads_here_and_one_with_another_does_not(zone: Zone) -> None:
    zone.records |= {("flat.example", "A"): ["127.0.0.1"], ("away.example", "A"): ["192.0.2.1"]}
    assert Dns([zone.address]).leads_to("flat.example", OURS) and not Dns([zone.address]).leads_to(
        "away.example", OURS
    )


def test_a_broken_server_is_no_answer(zone: Zone) -> None:
    zone.is_broken = True
    with pytest.raises(ProviderError):
        Dns([zone.address]).has_text("any.example", "x")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "localhost",
        "127.0.0.1",
        "a b.example",
        "-a.example",
        "x" * 64 + ".example",
        "http://a.example",
        "a..example",
        "\ud800.example",
        "пример",
    ],
)
def test_what_is_no_domain_is_refused(text: str, bakery: Shop) -> None:
    if text.strip():
        with pytest.raises(domains.NotADomain):
            domains.set_domain(bakery.store, text)
    assert bakery.store.checkout_domain == ""


def test_our_own_host_is_nobodys(bakery: Shop, settings: Any) -> None:
    settings.PUBLIC_URL = "https://till.example"
    for text in ("till.example", "a.till.example"):
        with pytest.raises(domains.OurDomain):
            domains.set_domain(bakery.store, text)


def test_a_domain_is_kept_in_its_ascii_form(bakery: Shop) -> None:
    assert (
        domains.set_domain(bakery.store, " Bäckerei.Example. ").checkout_domain
        == "xn--bckerei-5wa.example"
    )


def test_it_is_served_only_once_both_records_stand(bakery: Shop, zone: Zone) -> None:
    reference = make.payment(bakery.test)["reference"]
    domains.set_domain(bakery.store, DOMAIN)
    for prepare, problem in (
        (lambda: None, domains.NOT_PROVED),
        (lambda: zone.prove(bakery.store), domains.LEADS_ELSEWHERE),
        (lambda: zone.records.__setitem__((DOMAIN, "CNAME"), [OURS]), ""),
    ):
        prepare()
        store = domains.check_domain(bakery.store, clock.real_now())
        assert store.checkout_domain_problem == problem
        assert at(f"/{reference}").status_code == (400 if problem else 200)


def test_links_of_payments_lead_to_the_domain(served: Store, bakery: Shop) -> None:
    made = make.payment(bakery.test)
    assert made["hosted_url"] == f"http://{DOMAIN}:8000/{made['reference']}"
    page = at(f"/{made['reference']}")
    assert page.status_code == 200 and made["reference"].encode() in page.content
    assert at(f"/pay/{made['reference']}", host=f"{DOMAIN.upper()}:8443").status_code == 200


ELSEWHERE: list[str] = [
    "/",
    "/dashboard/",
    "/dashboard/sign-in",
    "/admin/",
    "/api/v2/payments",
    "/api/v2/openapi.json",
    "/docs",
    "/oauth/authorize",
    "/healthz",
    "/readyz",
    "/readyz/web",
    "/metrics",
    "/status",
    "/internal/domain-allowed?domain=x",
    "/files/x",
    "/invoice/x",
    "/dev/mailbox",
    "/.well-known/oauth-authorization-server",
]


def test_nothing_else_of_the_site_is_served_there(served: Store) -> None:
    for path in ELSEWHERE:
        assert at(path).status_code == 404, path
        assert at(path, method="post").status_code in (404, 405), path


def test_no_other_stores_checkout_is_served_there(served: Store, cast: Cast) -> None:
    foreign = make.payment(cast.strangers.test)
    mine = make.payment(cast.bakery.test)
    for tail in ("", "/brand.css"):
        assert at(f"/{foreign['reference']}{tail}").status_code == 404
        assert at(f"/{mine['reference']}{tail}").status_code == 200


def test_the_test_panel_works_at_the_domain_from_its_own_origin_only(
    served: Store, bakery: Shop
) -> None:
    made = make.payment(bakery.test)
    client = Client(HTTP_HOST=DOMAIN, enforce_csrf_checks=True)
    page = client.get(f"/{made['reference']}")
    assert page.status_code == 200
    token = page.content.decode().split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    body = {"scenario": "exact", "csrfmiddlewaretoken": token}
    assert (
        client.post(
            f"/{made['reference']}/simulate", body, HTTP_ORIGIN="http://evil.example"
        ).status_code
        == 403
    )
    assert (
        client.post(
            f"/{made['reference']}/simulate", body, HTTP_ORIGIN=f"http://{DOMAIN}"
        ).status_code
        == 303
    )


def test_it_stops_at_once_when_it_is_removed_changed_or_no_longer_proved(
    served: Store, bakery: Shop, zone: Zone
) -> None:
    reference = make.payment(bakery.test)["reference"]
    del zone.records[domains.proof(served)[0], "TXT"]
    assert domains.check_due(clock.real_now() + timedelta(minutes=30)) == 0
    assert at(f"/{reference}").status_code == 200
    assert domains.check_due(clock.real_now() + timedelta(minutes=61)) == 1
    assert at(f"/{reference}").status_code == 400
    zone.prove(served)
    served.refresh_from_db()
    domains.check_domain(served, clock.real_now())
    assert at(f"/{reference}").status_code == 200
    domains.set_domain(served, "")
    assert at(f"/{reference}").status_code == 400
    actions = (
        AuditEntry.objects.filter(action__startswith="store.domain")
        .order_by("id")
        .values_list("action", flat=True)
    )
    stopped = "store.domain_stopped"
    verified = "store.domain_verified"
    changed = "store.domain_changed"
    assert list(actions) == [changed, verified, stopped, verified, changed]


def test_a_dns_that_does_not_answer_changes_nothing(served: Store, zone: Zone) -> None:
    zone.is_broken = True
    store = domains.check_domain(served, clock.real_now())
    assert (
        store.checkout_domain_verified_at is not None
        and store.checkout_domain_problem == domains.NO_ANSWER
    )


def test_a_domain_is_served_for_one_store_and_goes_to_who_proves_it(
    served: Store, cast: Cast, zone: Zone
) -> None:
    stranger = cast.strangers.store
    domains.set_domain(stranger, DOMAIN)
    assert (
        domains.check_domain(stranger, clock.real_now()).checkout_domain_problem
        == domains.NOT_PROVED
    )
    mine, theirs = (domains.proof(store) for store in (served, stranger))
    assert mine[0] == theirs[0] and mine[1] != theirs[1]
    zone.records[mine[0], "TXT"] = [f'"{mine[1]}"', f'"{theirs[1]}"']
    assert (
        domains.check_domain(stranger, clock.real_now()).checkout_domain_problem == domains.IN_USE
    )
    zone.records[mine[0], "TXT"] = [f'"{theirs[1]}"']
    assert domains.check_domain(stranger, clock.real_now()).checkout_domain_verified_at is not None
    assert domains.store_served_at(DOMAIN) == stranger.pk


def test_a_proxy_asks_before_it_gets_a_certificate(served: Store) -> None:
    ask = {
        name: Client().get("/internal/domain-allowed", {"domain": name}).status_code
        for name in (DOMAIN, DOMAIN.upper(), "x.example", "\x00", "")
    }
    assert list(ask.values()) == [200, 200, 404, 404, 404]


def test_nobody_asks_through_the_proxy_which_names_are_served(served: Store, settings: Any) -> None:
    settings.TRUSTED_PROXY_HOPS = 1
    ask = {"domain": DOMAIN}
    headers = {"X-Forwarded-For": "192.0.2.1"}
    asked = Client().get("/internal/domain-allowed", ask, headers=headers)
    assert asked.status_code == 404
    assert Client().get("/internal/domain-allowed", ask).status_code == 200


def test_an_owner_causes_few_certificates_a_day_in_all_stores(cast: Cast) -> None:
    stores = [cast.bakery.store, shop_of(cast.alice, "Second").store]
    for number in range(domains.CHANGES_MAX):
        domains.set_domain(stores[number % 2], f"pay{number}.example.com")
    for store in stores:
        with pytest.raises(domains.TooManyDomains):
            domains.set_domain(store, "one-more.example.com")
        assert domains.set_domain(store, "").checkout_domain == ""
    assert domains.set_domain(cast.strangers.store, "theirs.example.com").checkout_domain
    with time_machine.travel(clock.real_now() + domains.CHANGES_COUNTED + timedelta(hours=1)):
        domains.set_domain(stores[0], "tomorrow.example.com")


def test_many_new_domains_wait_and_those_that_are_served_stay(
    served: Store, cast: Cast, zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domains, "NEW_PER_HOUR_MAX", 1)
    store = domains.set_domain(cast.strangers.store, "new.example.com")
    zone.prove(store)
    zone.records["new.example.com", "CNAME"] = [OURS]
    now = clock.real_now()
    assert domains.check_domain(store, now).checkout_domain_problem == domains.TOO_MANY
    assert domains.check_domain(served, now).checkout_domain_verified_at is not None
    later = now + timedelta(hours=2)
    assert domains.check_domain(store, later).checkout_domain_verified_at is not None


def test_the_room_sets_checks_and_removes_a_domain(cast: Cast, zone: Zone) -> None:
    browser = Browser(cast.alice)
    store = cast.bakery.store
    assert browser.post("settings/domain/change", domain="no domain").status_code == 422
    assert "Add checkout domain" in browser.get("settings/domain/change").content.decode()
    assert browser.post("settings/domain/change", domain=DOMAIN).status_code == 303
    store.refresh_from_db()
    page = unbroken(browser.get("settings/domain").content.decode())
    assert all(part in page for part in (*domains.proof(store), DOMAIN))
    assert "Change checkout domain" in browser.get("settings/domain/change").content.decode()
    zone.prove(store)
    zone.records[DOMAIN, "CNAME"] = [OURS]
    browser.post("settings/domain", to="checked")
    assert "has been served at" in browser.get("settings/domain").content.decode()
    browser.post("settings/domain", to="removed")
    store.refresh_from_db()
    assert (store.checkout_domain, store.checkout_domain_verified_at) == ("", None)
    assert Browser(cast.bob).post("settings/domain/change", domain=DOMAIN).status_code == 403


def test_the_proxy_may_ask_without_tls_since_it_has_no_certificate_yet(
    db: None, settings: Any
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert (
        Client().get("/internal/domain-allowed", {"domain": settings.OWN_HOSTS[0]}).status_code
        == 200
    )
    assert (
        Client().get("/internal/domain-allowed", {"domain": "stranger.example.com"}).status_code
        == 404
    )
    assert Client().get("/dashboard/sign-in").status_code == 301
