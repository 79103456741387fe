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
# Countries that are another's territory for VAT (Directive 2006/112/EC, article 7).
_PART_OF = {"MC": "FR", "IM": "GB"}
# Northern Ireland belongs to the EU's VAT where goods are sold; its numbers have this prefix.
NORTHERN_IRELAND = "XI"
# Where the prefix of a country's VAT numbers isn't its code.
PREFIXES = {"GR": "EL"}
_COUNTRIES = {prefix: country for country, prefix in PREFIXES.items()}
# British forms behind their own prefix: traders, branches, offices and hospitals.
_NORTHERN_IRISH = re.compile(r"XI(\d{9}|\d{12}|GD\d{3}|HA\d{3})", re.ASCII)
_OTHER_FORM = re.compile(r"[A-Z0-9]{4,20}", re.ASCII)


def vat_country(country: str) -> str:
    """The country whose VAT holds in a country."""
    return _PART_OF.get(country, country)


def is_northern_irish(number: str) -> bool:
    return bool(_NORTHERN_IRISH.fullmatch(number))


def prefix_of(country: str) -> str:
    country = vat_country(country)
    return PREFIXES.get(country, country)


def country_of(number: str) -> str:
    """The EU country whose prefix a stored number has, empty when it is none's."""
    country = _COUNTRIES.get(number[:2], number[:2])
    return country if country in EU else ""


def is_in_registry(number: str) -> bool:
    """Tell whether the EU's registry (VIES) answers for numbers like this one."""
    return bool(country_of(number)) or is_northern_irish(number)


def vat_number(written: str, country: str, name: str = "vat_number") -> str:
    """The number as it is stored: in capitals, without spaces, an EU country's with its prefix.

    Raises Invalid for another country's number, and for one that its country never gave.
    """
    packed = re.sub(r"[\s.\-/]", "", written).upper()
    if not country:
        country = "GB" if is_northern_irish(packed) else country_of(packed)
        if not country:
            raise Invalid(name, "required_with_country")
    country = vat_country(country)
    prefix = prefix_of(country)
    if country in EU:
        if re.match(r"[A-Z]{2}", packed) and not packed.startswith(prefix):
            raise Invalid(name, "vat_country", prefix=prefix)
        packed = packed if packed.startswith(prefix) else prefix + packed
    elif _is_anothers(packed, country):
        raise Invalid(name, "vat_country", prefix=prefix)
    if not _is_number_of(packed, country):
        raise Invalid(name, "vat_number", country=country)
    return packed


def _is_anothers(packed: str, country: str) -> bool:
    """Tell whether a number that a country outside the EU is said to have given is from inside."""
    if is_northern_irish(packed):
        return country != "GB"
    return bool(country_of(packed)) and _is_number_of(packed, country_of(packed))


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
