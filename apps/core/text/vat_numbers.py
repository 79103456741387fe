"""VAT numbers: their country's form and check digits (python-stdnum). A right form doesn't say
that anybody has the number; a registry does."""

import re

from apps.core.messages.fields import Invalid

EU = frozenset(
    [
        *("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU"),
        *("IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK"),
    ]
)
# Where the prefix of a country's VAT numbers isn't its code.
PREFIXES = {"GR": "EL"}
_COUNTRIES = {prefix: country for country, prefix in PREFIXES.items()}
_OTHER_FORM = re.compile(r"[A-Z0-9]{4,20}", re.ASCII)


def prefix_of(country: str) -> str:
    return PREFIXES.get(country, country)


def country_of(number: str) -> str:
    """The EU country whose prefix a stored number has, empty when it is none's."""
    country = _COUNTRIES.get(number[:2], number[:2])
    return country if country in EU else ""


def vat_number(written: str, country: str, name: str = "vat_number") -> str:
    """The number as it is stored: in capitals, without spaces, an EU country's with its prefix.

    Raises Invalid for another country's number, and for one that its country never gave.
    """
    packed = re.sub(r"[\s.\-/]", "", written).upper()
    if not country:
        country = country_of(packed)
        if not country:
            raise Invalid(name, "required_with_country")
    prefix = prefix_of(country)
    if country in EU:
        if re.match(r"[A-Z]{2}", packed) and not packed.startswith(prefix):
            raise Invalid(name, "vat_country", prefix=prefix)
        packed = packed if packed.startswith(prefix) else prefix + packed
    elif country_of(packed) and _is_number_of(packed, country_of(packed)):
        raise Invalid(name, "vat_country", prefix=prefix)
    if not _is_number_of(packed, country):
        raise Invalid(name, "vat_number", country=country)
    return packed


def is_vat_number(written: str, country: str) -> bool:
    try:
        return bool(vat_number(written, country))
    except Invalid:
        return False


def _is_number_of(packed: str, country: str) -> bool:
    from stdnum import get_cc_module  # loaded where a number is read
    from stdnum.exceptions import ValidationError

    module = get_cc_module(country.lower(), "vat")
    if module is None:
        return bool(_OTHER_FORM.fullmatch(packed))
    try:
        module.validate(packed)
    except ValidationError:
        return False
    return len(packed) <= 20
