"""The usual case of a sale, as a table, and the rates of consumers abroad by their days."""

from datetime import date

import pytest

from apps.billing.models.tax import TaxCase
from apps.billing.taxes.cases import Sale, case_of, charge_of
from apps.billing.taxes.counting import Charge
from apps.billing.taxes.countries import STANDARD_RATES, standard_rate_bps
from apps.core.text.vat_numbers import EU

DAY = date(2026, 11, 29)
HOME = Charge("S", 1900)
# Seller, buyer, whether a business, what is sold, case.
CASES = [
    ("DE", "DE", False, "goods", TaxCase.DOMESTIC),
    ("DE", "DE", True, "digital", TaxCase.DOMESTIC),
    ("DE", "", False, "digital", TaxCase.DOMESTIC),
    ("", "FR", True, "goods", TaxCase.DOMESTIC),
    ("DE", "FR", True, "service", TaxCase.REVERSE_CHARGE),
    ("DE", "FR", True, "digital", TaxCase.REVERSE_CHARGE),
    ("DE", "FR", True, "goods", TaxCase.INTRA_COMMUNITY),
    ("DE", "NL", False, "digital", TaxCase.EU_CONSUMER),
    ("DE", "NL", False, "goods", TaxCase.EU_CONSUMER),
    ("DE", "NL", False, "service", TaxCase.DOMESTIC),
    ("DE", "CH", False, "goods", TaxCase.EXPORT),
    ("DE", "US", True, "service", TaxCase.OUTSIDE),
    ("DE", "US", False, "service", TaxCase.DOMESTIC),
    ("DE", "US", False, "digital", TaxCase.OUTSIDE),
    ("CH", "DE", True, "goods", TaxCase.EXPORT),
    ("CH", "CH", True, "goods", TaxCase.DOMESTIC),
    # Monaco is France's for VAT, and the Isle of Man the United Kingdom's.
    ("DE", "MC", True, "service", TaxCase.REVERSE_CHARGE),
    ("DE", "MC", False, "digital", TaxCase.EU_CONSUMER),
    ("FR", "MC", True, "goods", TaxCase.DOMESTIC),
    ("MC", "IT", True, "goods", TaxCase.INTRA_COMMUNITY),
    ("GB", "IM", False, "digital", TaxCase.DOMESTIC),
    ("DE", "IM", True, "goods", TaxCase.EXPORT),
    # Northern Ireland is in the EU's VAT with goods alone.
    ("DE", "XI", True, "goods", TaxCase.INTRA_COMMUNITY),
    ("DE", "XI", True, "service", TaxCase.OUTSIDE),
    ("DE", "GB", True, "goods", TaxCase.EXPORT),
    ("XI", "FR", True, "goods", TaxCase.INTRA_COMMUNITY),
    ("XI", "FR", True, "service", TaxCase.OUTSIDE),
    ("GB", "XI", True, "goods", TaxCase.DOMESTIC),
    ("XI", "US", True, "goods", TaxCase.EXPORT),
]


def sale(seller: str, buyer: str, is_business: bool, supply: str, **fields: bool) -> Sale:
    return Sale(seller, buyer, is_business, supply, DAY, **{"charges_abroad": True, **fields})


@pytest.mark.parametrize(("seller", "buyer", "is_business", "supply", "case"), CASES)
def test_the_case_follows_from_seller_buyer_and_what_is_sold(
    seller: str, buyer: str, is_business: bool, supply: str, case: TaxCase
) -> None:
    assert case_of(sale(seller, buyer, is_business, supply)) == case


def test_a_shop_below_the_threshold_charges_consumers_abroad_as_at_home() -> None:
    dutch = sale("DE", "NL", False, "digital", charges_abroad=False)
    assert case_of(dutch) == TaxCase.DOMESTIC


@pytest.mark.parametrize("buyer", ["DE", "FR", "US", ""])
def test_a_small_business_charges_nobody_and_says_why_in_its_law(buyer: str) -> None:
    small = sale("DE", buyer, True, "digital", is_small_business=True)
    assert case_of(small) == TaxCase.SMALL_BUSINESS
    charge = charge_of(TaxCase.SMALL_BUSINESS, small, HOME)
    assert charge is not None
    assert (charge.category, charge.rate_bps) == ("E", 0)
    assert "§ 19 UStG" in charge.reason


def test_a_consumer_in_monaco_pays_the_rate_of_france() -> None:
    charge = charge_of(TaxCase.EU_CONSUMER, sale("DE", "MC", False, "digital"), HOME)
    assert charge is not None
    assert (charge.rate_bps, charge.name) == (2000, "VAT FR")


@pytest.mark.parametrize(
    ("case", "category", "code"),
    [
        (TaxCase.REVERSE_CHARGE, "AE", "VATEX-EU-AE"),
        (TaxCase.INTRA_COMMUNITY, "K", "VATEX-EU-IC"),
        (TaxCase.EXPORT, "G", "VATEX-EU-G"),
        (TaxCase.OUTSIDE, "O", "VATEX-EU-O"),
    ],
)
def test_what_isnt_charged_has_its_reason(case: TaxCase, category: str, code: str) -> None:
    charge = charge_of(case, sale("DE", "FR", True, "goods"), HOME)
    assert charge is not None and charge.reason
    assert (charge.category, charge.rate_bps, charge.reason_code) == (category, 0, code)


def test_a_consumer_abroad_pays_the_rate_of_the_day_in_prices_as_at_home() -> None:
    dutch = sale("DE", "NL", False, "digital")
    inclusive = Charge("S", 1900, is_inclusive=True)
    assert charge_of(TaxCase.EU_CONSUMER, dutch, inclusive) == Charge(
        "S", 2100, is_inclusive=True, name="VAT NL"
    )


@pytest.mark.parametrize(
    ("country", "day", "bps"),
    [
        ("EE", date(2025, 6, 30), 2200),
        ("EE", date(2025, 7, 1), 2400),
        ("FI", date(2024, 8, 31), 2400),
        ("FI", date(2024, 9, 1), 2550),
        ("SK", date(2024, 12, 31), 2000),
        ("SK", date(2025, 1, 1), 2300),
        ("RO", date(2025, 8, 1), 2100),
        ("LU", date(2023, 7, 1), 1600),
        ("NL", DAY, 2100),
        ("CH", DAY, None),
        ("NL", date(2021, 6, 30), None),
    ],
)
def test_a_countrys_rate_is_that_of_the_day(country: str, day: date, bps: int | None) -> None:
    assert standard_rate_bps(country, day) == bps


def test_every_member_has_its_rates_in_the_order_of_their_days() -> None:
    assert set(STANDARD_RATES) == EU
    for rates in STANDARD_RATES.values():
        assert [day for day, _ in rates] == sorted(day for day, _ in rates)
