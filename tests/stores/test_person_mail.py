"""Emails to people with accounts: each reads their own language, staff and who has chosen none
English."""

import re
from typing import Any

import pytest
from django.core import mail as django_mail
from django.utils import translation

from apps.access import operation_emails, operations
from apps.access.person import email_change, recovery
from apps.core import mail
from apps.core.money import Fiat
from apps.core.text.wording import Worded
from apps.payments.services.completed_emails import CurrencyTotal
from apps.stores import roles
from apps.stores.emailing import account_emails, settings_emails
from apps.stores.emailing.account_emails import StaffDecision
from apps.stores.models import Role, User
from apps.stores.notices import notifications
from apps.stores.notices.notifications import NewNotification
from apps.stores.services import change_password, create_user
from dev import messages
from tests.cast import PASSWORD, Cast, join, person

messages.set_up()
NOT_TRANSLATED = {
    "staff_request": "staff read English",
    "sign_up_invitation": "an operator sends it to somebody who has never been here",
}


def sent() -> list[Any]:
    mail.send_due()
    return django_mail.outbox


def reads(user: User, language: str, region: str = "") -> User:
    User.objects.filter(pk=user.pk).update(language=language, region=region)
    user.refresh_from_db()
    return user


def test_every_email_to_people_is_translated_but_those_of_staff() -> None:
    folder = messages.ROOT / "templates/email"
    every = {path.stem for path in folder.glob("[a-z]*.txt")}
    listed = {
        path.stem
        for pattern in (*messages.TEMPLATES, *messages.MERCHANT_TEMPLATES)
        for path in (messages.ROOT / "templates").glob(pattern)
        if path.parent == folder
    }
    assert every - listed == set(NOT_TRANSLATED)


@pytest.mark.parametrize(
    ("language", "subject", "words"),
    [
        ("de", "Ihr Passwort wurde geändert", "Guten Tag,"),
        ("fr", "Votre mot de passe a été modifié", "Bonjour,"),
        ("es", "Se cambió su contraseña", "Hola:"),
        ("it", "Your password was changed", "Hello,"),
        ("", "Your password was changed", "Hello,"),
    ],
)
def test_a_change_of_an_account_is_told_in_its_owners_language(
    cast: Cast, language: str, subject: str, words: str
) -> None:
    user = reads(cast.alice, language)
    with translation.override("fr"):  # of whoever's page caused it
        change_password(user, "another sentence to remember")
    (email,) = sent()
    assert email.subject == subject and email.body.startswith(words)
    html = str(email.alternatives[0][0])
    shown = language if language in ("de", "fr", "es") else "en"
    assert f'lang="{shown}"' in html and subject in html


def test_each_owner_reads_what_somebody_did_in_their_own_language(cast: Cast) -> None:
    reads(cast.alice, "de")
    other = reads(person("olga"), "es")
    join(cast.bakery.store, other, Role.OWNER)
    access = cast.bakery.owner_access("live")
    words = Worded(
        "{person}: {role}, instead of {before}",
        person="bob@example.com",
        role=roles.role_in_words(Role.ADMIN),
        before=roles.role_in_words(Role.VIEWER),
    )
    with translation.override("fr"):
        operation_emails.tell(access, operations.ROLE_CHANGE, words)
    by_person = {email.to[0]: email for email in sent()}
    german, spanish = by_person[cast.alice.email], by_person[other.email]
    assert german.subject.startswith("Die Rolle eines Teammitglieds wurde geändert: ")
    assert re.search(r"bob@example\.com: \w+ statt \w+", german.body)
    assert spanish.subject.startswith("Se cambió la función de un miembro del equipo: ")
    assert "en lugar de" in spanish.body and "instead of" not in spanish.body


def test_a_notification_is_emailed_in_the_readers_language_with_its_amount(cast: Cast) -> None:
    store = cast.bakery.store
    words = "Payment of €10.00 was overpaid by €1.00"
    reason = "More than the amount due arrived and was accepted. You can refund the difference."
    path = "/dashboard/payments"
    for language in ("de", ""):
        reads(cast.alice, language)
        notifications.record(
            NewNotification(
                store.pk, "live", "payment_attention", language, words, path, reason, "€1.00"
            )
        )
        notifications.tell_due()
    german, english = sent()
    assert german.subject == f"Zahlung über €10.00 wurde überzahlt: €1.00 · {store.name}"
    assert "Es kam mehr als der fällige Betrag an" in german.body and "Abbestellen" in german.body
    assert english.subject == f"{words} · {store.name}" and reason in english.body


def test_what_staff_decide_is_told_to_owners_in_their_language_with_staffs_own_reason(
    cast: Cast,
) -> None:
    reads(cast.alice, "fr")
    decision = StaffDecision(
        Worded("{store} could not be verified", store=cast.bakery.store.name),
        "We reviewed the business details and approved them.",
        "/dashboard/verification",
        "Open the dashboard",
        "The register has another name",
    )
    account_emails.tell_owners(cast.bakery.store, "one", decision)
    settings_emails.tell(cast.bakery.store, "two", [("Fee", "1%", "2%")])
    first, second = sent()
    assert first.subject == f"{cast.bakery.store.name} n’a pas pu être vérifié"
    assert "Motif : The register has another name" in first.body
    assert "Ouvrir le tableau de bord:" in first.body
    assert "Fee: 2%, instead of 1%. Si vous ne vous y attendiez pas" in second.body


def test_who_asks_for_an_email_on_a_page_reads_that_pages_language_until_they_choose(
    cast: Cast,
) -> None:
    with translation.override("es"):
        recovery.ask(cast.alice.email, "192.0.2.1")
        email_change.ask(cast.alice, email="new@example.com", password=PASSWORD, address="")
    reads(cast.alice, "de")
    with translation.override("es"):
        recovery.ask(cast.alice.email, "192.0.2.2")
    asked, changed, chosen = sent()
    assert asked.subject.startswith("Restablezca su contraseña")
    assert changed.subject == "Confirme su nueva dirección de correo"
    assert chosen.subject.startswith("Setzen Sie Ihr Passwort")


def test_amounts_and_moments_have_the_readers_form(cast: Cast) -> None:
    """A reader of German may have chosen American figures."""
    store = cast.bakery.store
    context = {
        "totals": [CurrencyTotal(1234, Fiat(123_456_78, "CHF"))],
        "store": store.name,
        "day": store.created_at,
        "since": None,
        "path": "/dashboard/payments",
    }
    for number, region in enumerate(("", "en-US")):
        user = reads(cast.alice, "de", region)
        notifications.send(f"k{number}", "daily_summary", store, "payment_completed", user, context)
    german, american = sent()
    assert "1.234 Zahlungen: 123.456,78" in german.body
    assert re.search(r"1,234 Zahlungen: CHF.123,456\.78", american.body)


def test_an_account_that_is_made_on_a_german_page_is_written_to_in_german(db: None) -> None:
    user = create_user("carol@example.com", PASSWORD, language="de")
    account_emails.tell(user, Worded("A passkey was added: {name}", name="{Laptop}"))
    (email,) = sent()
    assert email.subject == "Ein Passkey wurde hinzugefügt: {Laptop}"
