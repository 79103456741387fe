"""The usual case of a sale and the categories of tax, in people's words."""

from django.utils.translation import gettext, gettext_noop

from apps.billing.models import SupplyType, TaxCategory
from apps.billing.models.tax import TaxCase

_CASES = {
    TaxCase.DOMESTIC: gettext_noop("Your own rates: sold as in your country"),
    TaxCase.REVERSE_CHARGE: gettext_noop("Reverse charge: a business in another EU country"),
    TaxCase.INTRA_COMMUNITY: gettext_noop("No VAT: goods to a business in another EU country"),
    TaxCase.EU_CONSUMER: gettext_noop("The buyer’s rate: a consumer in another EU country"),
    TaxCase.EXPORT: gettext_noop("No VAT: goods to a country outside the EU"),
    TaxCase.OUTSIDE: gettext_noop("No VAT: taxed where the buyer is"),
    TaxCase.SMALL_BUSINESS: gettext_noop("No VAT: you’re a small business"),
    TaxCase.EXEMPT: gettext_noop("No VAT: exempt"),
    TaxCase.MIXED: gettext_noop("More than one case: see each line"),
}


SUPPLIES = {
    SupplyType.SERVICE: gettext_noop("Services"),
    SupplyType.DIGITAL: gettext_noop("Digital services and downloads"),
    SupplyType.GOODS: gettext_noop("Goods"),
}
_CATEGORIES = {
    TaxCategory.STANDARD: gettext_noop("Taxed"),
    TaxCategory.ZERO: gettext_noop("Zero-rated"),
    TaxCategory.EXEMPT: gettext_noop("Exempt"),
    TaxCategory.REVERSE_CHARGE: gettext_noop("Reverse charge"),
    TaxCategory.INTRA_COMMUNITY: gettext_noop("Goods to another EU country"),
    TaxCategory.EXPORT: gettext_noop("Export"),
    TaxCategory.OUT_OF_SCOPE: gettext_noop("Not subject to VAT"),
    TaxCategory.CANARY_ISLANDS: gettext_noop("Canary Islands (IGIC)"),
    TaxCategory.CEUTA_MELILLA: gettext_noop("Ceuta and Melilla (IPSI)"),
}


def case_words(case: str | None) -> str:
    """Empty when no case was chosen."""
    return gettext(_CASES[TaxCase(case)]) if case else ""


def categories() -> list[tuple[str, str]]:
    """To choose from."""
    return [(value, f"{gettext(label)} ({value})") for value, label in _CATEGORIES.items()]
