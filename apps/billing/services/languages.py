"""In which language a customer is written to: the one they chose on a page, else the store's, else
English."""

from django.conf import settings

from apps.access.access import Access
from apps.billing.models import Customer


def language_of(customer: Customer) -> str:
    """A code of settings.LANGUAGES."""
    languages = dict(settings.LANGUAGES)
    return next(
        (
            code
            for code in (customer.language, customer.store.customer_language)
            if code in languages
        ),
        settings.LANGUAGE_CODE,
    )


def remember_language(customer: Customer, code: str) -> None:
    """Sets the customer's language for later emails and PDFs. Unknown languages change nothing."""
    if code in dict(settings.LANGUAGES) and code != customer.language:
        access = Access.for_public(customer.store, customer.mode)
        Customer.objects.visible_to(access).filter(pk=customer.pk).update(language=code)
        customer.language = code
