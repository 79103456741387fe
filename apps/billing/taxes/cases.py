"""The usual case of a sale, from seller, buyer and what is sold: pure.

It says how a line is charged where nobody named a rate for it. What it doesn't know (local taxes of
other countries, reduced rates abroad, chains of sellers) a merchant names themselves.
"""

from dataclasses import dataclass
from datetime import date

from apps.billing.models.tax import TaxCase
from apps.billing.taxes import countries
from apps.billing.taxes.counting import Charge
from apps.core.text.vat_numbers import EU, NORTHERN_IRELAND, vat_country


@dataclass(frozen=True)
class Sale:
    """Countries are ISO codes, empty when nobody knows, or XI for a business of Northern Ireland.
    `is_business`: the buyer's VAT number has its country's form, and no registry has refused it."""

    seller_country: str
    buyer_country: str
    is_business: bool
    supply_type: str
    day: date
    charges_abroad: bool = False
    is_small_business: bool = False


def case_of(sale: Sale) -> TaxCase:
    """Without a country of either side it is sold as at home, which charges rather too much than
    too little."""
    if sale.is_small_business:
        return TaxCase.SMALL_BUSINESS
    is_goods = sale.supply_type == "goods"
    seller, buyer = _country_of(sale.seller_country), _country_of(sale.buyer_country)
    if not seller or not buyer or seller == buyer:
        return TaxCase.DOMESTIC
    if not _is_in_eu(sale.seller_country, is_goods) or not _is_in_eu(sale.buyer_country, is_goods):
        if is_goods:
            return TaxCase.EXPORT
        is_taxed_there = sale.supply_type == "digital" or sale.is_business
        return TaxCase.OUTSIDE if is_taxed_there else TaxCase.DOMESTIC
    if sale.is_business:
        return TaxCase.INTRA_COMMUNITY if is_goods else TaxCase.REVERSE_CHARGE
    if sale.supply_type != "service" and sale.charges_abroad:
        return TaxCase.EU_CONSUMER
    return TaxCase.DOMESTIC


def _country_of(country: str) -> str:
    return "GB" if country == NORTHERN_IRELAND else vat_country(country)


def _is_in_eu(country: str, is_goods: bool) -> bool:
    return vat_country(country) in EU or (is_goods and country == NORTHERN_IRELAND)


def leaves_within_eu(seller: str, buyer: str) -> bool:
    """Tell whether goods for the buyer's country leave the seller's and stay in the EU."""
    return _is_in_eu(buyer, is_goods=True) and _country_of(seller) != _country_of(buyer)


def charge_of(case: TaxCase, sale: Sale, own: Charge | None) -> Charge | None:
    """Charge of a line in a case; `own` is the rate at home, which says whether prices hold the
    tax."""
    country = vat_country(sale.seller_country)
    match case:
        case TaxCase.REVERSE_CHARGE:
            words = countries.REVERSE_CHARGE_WORDS.get(country, countries.REVERSE_CHARGE)
            return Charge("AE", 0, name="Reverse charge", reason=words, reason_code="VATEX-EU-AE")
        case TaxCase.INTRA_COMMUNITY:
            return Charge(
                "K",
                0,
                name="Intra-Community supply",
                reason="Intra-Community supply of goods, exempt from VAT",
                reason_code="VATEX-EU-IC",
            )
        case TaxCase.EXPORT:
            return Charge(
                "G", 0, name="Export", reason="Export outside the EU", reason_code="VATEX-EU-G"
            )
        case TaxCase.OUTSIDE:
            return Charge(
                "O",
                0,
                name="Not subject to VAT",
                reason="Not subject to VAT: taxed where the buyer is",
                reason_code="VATEX-EU-O",
            )
        case TaxCase.SMALL_BUSINESS:
            words = countries.SMALL_BUSINESS_WORDS.get(country, countries.SMALL_BUSINESS)
            return Charge("E", 0, name="Small business", reason=words)
        case TaxCase.EU_CONSUMER:
            buyer = vat_country(sale.buyer_country)
            bps = countries.standard_rate_bps(buyer, sale.day)
            if bps is None:
                return own
            is_inclusive = own is not None and own.is_inclusive
            return Charge("S", bps, is_inclusive, name=f"VAT {buyer}")
    return own
