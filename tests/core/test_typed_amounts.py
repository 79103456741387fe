"""Amounts that people type, in each form of numbers that a reader can have."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from apps.core.messages.invalid import Invalid
from apps.core.text.regions import REGIONS, own_locale, shown_in
from apps.core.typed_amounts import (
    Ambiguous,
    cents_meant,
    cents_typed,
    coins_typed,
    unmistakable,
    whole_typed,
)

ALIKE = {
    "12.50": 1250,
    "12,50": 1250,
    "12,5": 1250,
    "12": 1200,
    ",50": 50,
    "0,05": 5,
    "1.234,50": 123450,
    "1,234.50": 123450,
    "1'234.50": 123450,
    "1’234.50": 123450,
    "1 234,50": 123450,
    "1\N{NARROW NO-BREAK SPACE}234,50": 123450,
    "1.234.567": 123456700,
    "1,234,567.8": 123456780,
    "１２００": 120000,
    "１，２３４．５０": 123450,
    "٣٫٥": 350,
    " 7,80 ": 780,
}
REFUSED = [
    "",
    "abc",
    "1,2,3",
    "12,34.56,7",
    "1.23.45",
    "12 50",
    "1''000",
    "-5",
    "+5",
    "1e3",
    "7,",
    "0,125",
    "12,345.678",
    "1.2345,00",
    "1234567890",
    "1,234,56",
    "٣٬٥",
    "١٫٢٣٤",
    "½",
    "1" * 500,
]


@pytest.mark.parametrize("region", REGIONS)
def test_what_has_one_reading_is_read_alike_everywhere(region: str) -> None:
    with shown_in(region):
        assert {text: cents_typed(text, "amount") for text in ALIKE} == ALIKE
        for text in REFUSED:
            with pytest.raises(Invalid) as refused:
                cents_typed(text, "amount")
            assert (refused.value.field, refused.value.rule) == ("amount", "number"), text


@pytest.mark.parametrize(
    ("region", "comma", "point"),
    [("en-GB", 123400, None), ("de", None, 123400), ("ja", 123400, None), ("fr", None, None)],
)
def test_thousands_are_read_by_the_readers_own_mark_and_else_asked_about(
    region: str, comma: int | None, point: int | None
) -> None:
    with shown_in(region):
        for text, cents in (("1,234", comma), ("1.234", point)):
            if cents is not None:
                assert cents_typed(text, "amount", "EUR") == cents
                continue
            with pytest.raises(Ambiguous) as asked:
                cents_typed(text, "amount", "EUR")
            assert asked.value.params == {"written": text, "whole": "1234", "part": "1.23"}


@pytest.mark.parametrize("region", REGIONS)
def test_a_currency_without_cents_has_only_thousands(region: str) -> None:
    with shown_in(region):
        for text in ("1,200", "1.200", "１，２００", "1200", "1200.00"):
            assert cents_typed(text, "amount", "JPY") == 120000


def test_coins_that_could_be_thousands_are_asked_about() -> None:
    for region, own, other in (("en-US", "1.234", "1,234"), ("de", "1,234", "1.234")):
        with shown_in(region):
            assert coins_typed(own, "amount", 18) == "1.234"
            with pytest.raises(Ambiguous) as asked:
                coins_typed(other, "amount", 18)
            assert asked.value.params == {"written": other, "whole": "1234", "part": "1.2340"}
            assert coins_typed("0,125", "amount", 18) == "0.125"
            assert coins_typed("1'234.567", "amount", 18) == "1234.567"
            assert coins_typed("1234,567", "amount", 6) == "1234.567"
    with shown_in("de"):
        assert coins_typed("١٫٢٣٤", "amount", 18) == "1.234"
    for text in ("0,1234567", "x", ""):
        with pytest.raises(Invalid) as refused:
            coins_typed(text, "amount", 6)
        assert (refused.value.rule, refused.value.params) == ("coins", {"places": 6})


@given(some.sampled_from(list(REGIONS)), some.integers(0, 10**9), some.integers(0, 18))
def test_what_a_form_begins_with_is_read_as_it_was_meant(
    region: str, whole: int, places: int
) -> None:
    plain = f"{whole}.{7:0{places}d}" if places else str(whole)
    with shown_in(region):
        read = coins_typed(unmistakable(plain), "amount", 19)
        assert read.rstrip("0").rstrip(".") == plain.rstrip("0").rstrip(".") or read == plain


@given(some.sampled_from(list(REGIONS)), some.integers(0, 99_999_999_999))
def test_an_amount_written_in_the_readers_form_is_read_back(region: str, cents: int) -> None:
    with shown_in(region):
        symbols = own_locale().number_symbols["latn"]
        whole = f"{cents // 100:,}".replace(",", symbols["group"])
        typed = f"{whole}{symbols['decimal']}{cents % 100:02d}"
        assert cents_typed(typed, "amount", "EUR") == cents


@pytest.mark.parametrize("region", REGIONS)
def test_an_amount_that_is_searched_for_means_what_it_may(region: str) -> None:
    with shown_in(region):
        assert cents_meant("7,80") == (780,)
        assert set(cents_meant("1.250")) <= {125000, 125} and 125000 in cents_meant("1,250")
        assert cents_meant("Rye") == cents_meant("") == cents_meant("1.2.3") == ()


def test_a_whole_number_is_read_in_the_digits_of_any_script() -> None:
    for text in ("12", " 12 ", "１２", "١٢"):
        assert whole_typed(text, "quantity") == 12
    for text in ("", "1.0", "1,5", "-1", "²", "x", "1" * 13):
        with pytest.raises(Invalid) as refused:
            whole_typed(text, "quantity")
        assert refused.value.rule == "whole_number"
