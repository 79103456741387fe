"""Taxes of countries as data: the standard rates of the members of the EU with the days from which
they hold (for consumers abroad, One Stop Shop), and the words that the law of each asks for.

Rates as published by the European Commission, compared with its database (TEDB) as of 23 September
2026; a change is another line, and none is removed: an invoice of a day before it is charged by the
rate of that day.
"""

from datetime import date

# Country -> (first day, basis points), oldest first. The One Stop Shop began on 1 July 2021.
_BEGIN = date(2021, 7, 1)
STANDARD_RATES: dict[str, tuple[tuple[date, int], ...]] = {
    "AT": ((_BEGIN, 2000),),
    "BE": ((_BEGIN, 2100),),
    "BG": ((_BEGIN, 2000),),
    "CY": ((_BEGIN, 1900),),
    "CZ": ((_BEGIN, 2100),),
    "DE": ((_BEGIN, 1900),),
    "DK": ((_BEGIN, 2500),),
    "EE": ((_BEGIN, 2000), (date(2024, 1, 1), 2200), (date(2025, 7, 1), 2400)),
    "ES": ((_BEGIN, 2100),),
    "FI": ((_BEGIN, 2400), (date(2024, 9, 1), 2550)),
    "FR": ((_BEGIN, 2000),),
    "GR": ((_BEGIN, 2400),),
    "HR": ((_BEGIN, 2500),),
    "HU": ((_BEGIN, 2700),),
    "IE": ((_BEGIN, 2300),),
    "IT": ((_BEGIN, 2200),),
    "LT": ((_BEGIN, 2100),),
    "LU": ((_BEGIN, 1700), (date(2023, 1, 1), 1600), (date(2024, 1, 1), 1700)),
    "LV": ((_BEGIN, 2100),),
    "MT": ((_BEGIN, 1800),),
    "NL": ((_BEGIN, 2100),),
    "PL": ((_BEGIN, 2300),),
    "PT": ((_BEGIN, 2300),),
    "RO": ((_BEGIN, 1900), (date(2025, 8, 1), 2100)),
    "SE": ((_BEGIN, 2500),),
    "SI": ((_BEGIN, 2200),),
    "SK": ((_BEGIN, 2000), (date(2025, 1, 1), 2300)),
}
# Where the tax on sales is VAT, which each language has a name for, and not a tax like others.
VAT_COUNTRIES = frozenset({*STANDARD_RATES, "CH", "GB", "IS", "LI", "MC", "NO", "SM"})
REVERSE_CHARGE = "Reverse charge"
REVERSE_CHARGE_WORDS = {
    "AT": "Steuerschuldnerschaft des Leistungsempfängers (reverse charge)",
    "BE": "Autoliquidation / btw verlegd (reverse charge)",
    "DE": "Steuerschuldnerschaft des Leistungsempfängers (reverse charge)",
    "ES": "Inversión del sujeto pasivo (reverse charge)",
    "FR": "Autoliquidation (reverse charge)",
    "IT": "Inversione contabile (reverse charge)",
    "LU": "Autoliquidation (reverse charge)",
    "NL": "Btw verlegd (reverse charge)",
    "PL": "Odwrotne obciążenie (reverse charge)",
    "PT": "IVA - autoliquidação (reverse charge)",
}
SMALL_BUSINESS = "VAT exempt, small business"
SMALL_BUSINESS_WORDS = {
    "AT": "Umsatzsteuerfrei aufgrund der Kleinunternehmerregelung (§ 6 Abs. 1 Z 27 UStG)",
    "BE": "Kleine onderneming, vrijgesteld van btw / Petite entreprise soumise au régime de la"
    " franchise de taxe",
    "DE": "Kein Ausweis von Umsatzsteuer, Kleinunternehmer gemäß § 19 UStG",
    "FR": "TVA non applicable, article 293 B du CGI",
    "NL": "Vrijgesteld van btw op grond van artikel 25 Wet OB (kleineondernemersregeling)",
}


def standard_rate_bps(country: str, day: date) -> int | None:
    """The standard rate of an EU country on a day; None for other countries and earlier days."""
    held = [bps for begin, bps in STANDARD_RATES.get(country, ()) if begin <= day]
    return held[-1] if held else None
