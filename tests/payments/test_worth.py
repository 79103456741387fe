"""Amounts in fiat as coins, at the edges: everything, dust, a currency without cents, coins with
many places and with none."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.assets.models import Asset
from apps.core.messages.fields import Invalid
from apps.core.money import Amount, Bps, CoinPrice, Fiat
from apps.payments.services.worth import MaximumAmount, fiat_text, fiat_typed, part_of


def most(atomic: int, rate: str, currency: str = "EUR", places: int = 18) -> MaximumAmount:
    asset = Asset(id="X", coin_symbol="X", atomic_decimals=places, display_decimals=min(places, 8))
    return MaximumAmount(Amount(asset, atomic), CoinPrice(asset, Decimal(rate), currency))


def test_who_names_the_whole_worth_gets_all_of_it() -> None:
    whole = most(13_833_340_000_000_001, "1800")
    assert whole.fiat == Fiat(2490, "EUR") and whole.coins_for(Fiat(2490, "EUR")) == whole.amount
    assert whole.coins_for(Fiat(2489, "EUR")).coins == "0.01382777"


def test_a_dear_coin_keeps_the_places_that_its_cents_need() -> None:
    assert most(10**18, "90000000").coins_for(Fiat(1, "EUR")).atomic == 10**18 // 9_000_000_000


def test_a_cent_more_is_refused() -> None:
    with pytest.raises(Invalid, match="maximum"):
        most(13_833_340_000_000_001, "1800").coins_for(Fiat(2491, "EUR"))


def test_dust_is_worth_nothing_that_can_be_named() -> None:
    dust = most(1, "1800")
    assert dust.fiat == Fiat(0, "EUR")
    with pytest.raises(Invalid, match="maximum"):
        dust.coins_for(Fiat(1, "EUR"))


def test_a_coin_without_places_is_never_bought_in_parts() -> None:
    with pytest.raises(Invalid):
        most(3, "1.00", places=0).coins_for(Fiat(99, "EUR"))
    assert most(3, "1.00", places=0).coins_for(Fiat(199, "EUR")).atomic == 1


def test_yen_are_whole() -> None:
    whole = most(10**18, "250000.70", "JPY")
    assert whole.fiat == Fiat(25_000_000, "JPY") and fiat_text(whole.fiat) == "250000"
    assert whole.coins_for(fiat_typed("250000", "JPY")) == whole.amount
    assert (
        fiat_text(whole.fiat_part(Bps(2500))) == "62500" and fiat_text(Fiat(1250, "EUR")) == "12.50"
    )
    with pytest.raises(Invalid, match="whole"):
        fiat_typed("10.5", "JPY")


@given(
    st.integers(1, 10**24),
    st.decimals("0.000001", "1000000", places=6),
    st.sampled_from([0, 6, 18]),
    st.sampled_from(["EUR", "JPY"]),
    st.data(),
)
def test_what_is_sent_is_never_worth_more_than_was_named_nor_more_than_there_is(
    atomic: int, rate: Decimal, places: int, currency: str, data: st.DataObject
) -> None:
    whole = most(atomic, str(rate), currency, places)
    step = 100 if currency == "JPY" else 1
    cents = data.draw(st.integers(0, whole.fiat.cents // step)) * step
    for part in (2500, 5000, 7500, 10_000):
        assert (
            part_of(whole.amount, Bps(part)).atomic <= atomic
            and whole.fiat_part(Bps(part)) <= whole.fiat
        )
    if not cents:
        return
    try:
        sent = whole.coins_for(Fiat(cents, currency))
    except Invalid:
        return
    assert 0 < sent.atomic <= atomic
    if cents < whole.fiat.cents:
        assert sent.atomic * Decimal(rate) * 100 <= cents * Decimal(10) ** places
