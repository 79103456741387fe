"""How pages write things: amounts to the last place, times in UTC, statuses in words, nothing
unescaped."""

import re
from datetime import UTC, datetime
from decimal import Decimal

import heroicons
import pytest
from babel.numbers import get_minus_sign_symbol
from django.template import Context, Template
from django.utils import translation
from django.utils.html import strip_tags

from apps.core import clock, money
from apps.core.badges import all_badges
from apps.core.templatetags import tillgate
from apps.core.text import icons
from apps.payments.models import Payment
from dev import bootstrap

AT = datetime(2026, 11, 21, 9, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cents", "currency", "shown"),
    [(125_000, "EUR", "€1,250.00"), (100_000, "JPY", "¥1,000"), (1, "USD", "$0.01")],
)
def test_fiat_is_written_as_its_currency_is(cents: int, currency: str, shown: str) -> None:
    assert tillgate.fiat(cents, currency) == shown


def test_fiat_is_written_as_the_reader_writes() -> None:
    with translation.override("de"):
        assert tillgate.fiat(125_000, "EUR") == "1.250,00\xa0€"


def test_coins_keep_every_place_and_no_grouping() -> None:
    assert tillgate.coins("123456789000000000000000001", 18) == "123456789.000000000000000001"
    assert (
        tillgate.crypto(5_000_000, 6, "<b>")
        == '<bdi class="amount">5 <span class="unit">&lt;b&gt;</span></bdi>'
    )


@pytest.mark.parametrize(
    ("atomic", "shown", "short", "plain"),
    [
        (10**18, "1", "1", "1"),
        (1_234_567_890_000_000_000_000_001, "1,234,567.890000000000000001", "1,234,568", None),
        (-5 * 10**17, "−0.5", "−0.5", "-0.5"),
        (1, "0.000000000000000001", "0.000000000000000001", None),
        (10**48, f"1{'0' * 30}", f"1{'0' * 30}", None),
    ],
)
def test_a_merchant_reads_coins_with_separators_and_a_customer_copies_them_without(
    atomic: int, shown: str, short: str, plain: str | None
) -> None:
    assert strip_tags(tillgate.crypto(atomic, 18, "ETH")) == f"{shown} ETH"
    assert strip_tags(tillgate.crypto_short(atomic, 18, "ETH")) == f"{short} ETH"
    assert tillgate.coins_short(atomic, 18) == short
    assert tillgate.crypto_text(atomic, 18, "ETH") == f"{shown} ETH"
    exact = plain or shown.replace(",", "")
    assert strip_tags(tillgate.crypto_plain(atomic, 18, "ETH")) == f"{exact} ETH"


@pytest.mark.parametrize(
    ("atomic", "decimals", "short"),
    [
        (8_031_827_975_801_654_322, 18, "8.03182"),
        (99_999_999, 8, "0.999999"),
        (1_234_567_890_123, 6, "1,234,567"),
        (1_500_000, 6, "1.5"),
        (-1_234_567, 6, "−1.23457"),
    ],
)
def test_no_more_is_called_available_than_there_is(atomic: int, decimals: int, short: str) -> None:
    assert tillgate.coins_short(atomic, decimals, rounds_down=True) == short
    shown = tillgate.crypto_short(atomic, decimals, "ETH", rounds_down=True)
    assert strip_tags(shown) == f"{short} ETH"


def test_every_template_rounds_down_what_is_available() -> None:
    templates = (bootstrap.ROOT / "templates").rglob("*.html")
    tags = re.compile(r"{% (?:coins|crypto)_short [^%]*available(?:(?!rounds_down=True)[^%])*%}")
    assert [path.name for path in templates if tags.search(path.read_text())] == []


def test_coins_have_the_separators_of_the_reader() -> None:
    with translation.override("de"):
        assert strip_tags(tillgate.crypto(-1_234_500_000, 6)) == "−1.234,5"


def test_what_is_taken_away_has_a_minus_sign() -> None:
    assert tillgate.fiat(-125_000, "EUR") == "−€1,250.00"
    assert tillgate.fiat_exact(-50, "JPY") == "−¥0.50"
    assert tillgate.fiat(tillgate.negative(700), "EUR") == "−€7.00"


def test_a_minus_stays_at_the_left_of_its_digits_in_arabic() -> None:
    """As CLDR has it: its pattern begins with a mark that runs left, and its sign with one that
    runs right."""
    with translation.override("ar"):
        shown = tillgate.fiat(-700, "EUR")
        rate = tillgate.fiat_rate("1800", "EUR")
    assert shown == "\u2068\u200f\u200e−7.00\xa0€\u2069"
    assert rate == "\u2068\u200f1,800.00\xa0€\u2069"
    assert get_minus_sign_symbol("ar", numbering_system="latn") == "\u200e-"


def test_no_template_puts_a_sign_before_an_amount_itself() -> None:
    templates = (bootstrap.ROOT / "templates").rglob("*.html")
    signed = re.compile(r"[−-](?=\{\{[^}]*\|fiat|\{% crypto)")
    assert [path.name for path in templates if signed.search(path.read_text())] == []


def test_an_email_address_breaks_before_its_at_sign() -> None:
    assert tillgate.email_text("<ann>@shop.example") == "&lt;ann&gt;<wbr>@shop.example"
    assert tillgate.email_text("Ann Baker") == "Ann Baker"
    assert tillgate.email_text("ann.baker@customer.relations.of.the.shop.example") == (
        "ann.baker<wbr>@customer.<wbr>relations.<wbr>of.<wbr>the.<wbr>shop.<wbr>example"
    )
    assert tillgate.email_text("A long draft of €10.00 for ann@shop.example") == (
        "A long draft of €10.00 for ann<wbr>@shop.example"
    )


def test_a_url_breaks_after_its_slashes() -> None:
    assert tillgate.url_text("https://pay.example/pay/9&K") == (
        "https://pay.example/<wbr>pay/<wbr>9&amp;K"
    )
    assert tillgate.url_text(f"https://pay.example/{'a' * 13}{'&' * 12}") == (
        f'https://pay.example/<wbr><span class="whole hash">{"a" * 13}{"&amp;" * 12}</span>'
    )
    assert tillgate.url_text("A note/of several words that are no part of a URL") == (
        "A note/<wbr>of several words that are no part of a URL"
    )


def test_the_beginning_of_a_secret_ends_in_an_ellipsis() -> None:
    assert tillgate.ellipsis("whsec_b41938...") == "whsec_b41938…"
    assert tillgate.ellipsis("whsec_b41938") == "whsec_b41938"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 seconds"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (61, "1 minute 1 second"),
        (100, "1 minute 40 seconds"),
        (120, "2 minutes"),
        (3_599, "59 minutes"),
        (3_660, "1 hour 1 minute"),
        (86_400, "1 day"),
        (93_600, "1 day 2 hours"),
    ],
)
def test_a_length_of_time_is_told_in_words(seconds: int, words: str) -> None:
    assert tillgate.span(seconds) == words


def test_the_period_of_an_invoice_is_told_in_days_and_other_words_stay_as_they_are() -> None:
    shown = strip_tags(tillgate.document_period("2026-11-22 to 2026-12-22"))
    assert shown == "22 Nov 2026 – 22 Dec 2026"
    labeled = strip_tags(tillgate.labeled_period("2026-11-22 to 2026-12-22"))
    assert labeled == f"Billing period: {shown}"
    for words in ("Beans to go", ""):
        assert tillgate.document_period(words) == tillgate.labeled_period(words) == words


def test_a_moment_is_utc_with_its_second_in_the_title() -> None:
    shown = (
        '<time datetime="2026-11-21T09:14:05+00:00" title="2026-11-21 09:14:05 UTC">21 Nov 2026,'
        " 09:14\N{NO-BREAK SPACE}UTC</time>"
    )
    assert tillgate.moment(AT) == tillgate.moment("2026-11-21T10:14:05.000000+01:00") == shown
    assert tillgate.moment(None) == ""


def test_a_list_leaves_this_year_out_and_no_other() -> None:
    this_year = clock.real_now().replace(month=3, day=1, hour=9, minute=5)
    last_year = this_year.replace(year=this_year.year - 1)
    assert tillgate.list_day(this_year).endswith(">1 Mar</time>")
    assert tillgate.list_moment(this_year).endswith(">1 Mar, 09:05\N{NO-BREAK SPACE}UTC</time>")
    assert tillgate.list_day(last_year).endswith(f">1 Mar {last_year.year}</time>")
    assert tillgate.list_day(None) == tillgate.list_moment(None) == ""


@pytest.mark.parametrize("status", Payment.Status.values)
def test_every_status_of_a_payment_has_words(status: str) -> None:
    assert status in all_badges()["payment"]


def test_an_unknown_status_is_shown_as_it_is_and_escaped() -> None:
    assert (
        tillgate.badge("payment", "on_<hold>") == '<span class="badge quiet">On &lt;hold&gt;</span>'
    )


def test_an_icon_is_drawn_once_for_each_size_and_label() -> None:
    assert tillgate.icon("check", 20, "Paid") is tillgate.icon("check", 20, "Paid")
    assert (
        len(
            {
                tillgate.icon("check", 20, "Paid"),
                tillgate.icon("check", 16, "Paid"),
                tillgate.icon("check", 20, "Sent"),
            }
        )
        == 3
    )


@pytest.mark.parametrize(("style", "size"), [("micro", 16), ("mini", 20), ("outline", 24)])
@pytest.mark.parametrize("name", ["check", "bars-3"])
def test_an_icon_is_what_the_library_draws(name: str, style: str, size: int) -> None:
    attributes = {"class": "icon", "aria-label": '"><b'}
    drawn = icons.drawn(style, name, size, attributes)
    assert drawn == heroicons._render_icon(style, name, size, {**attributes})


def test_an_icon_with_a_label_is_read_aloud_and_one_without_is_not() -> None:
    assert 'aria-hidden="true"' not in tillgate.icon("bars-3", 20, "Menu")
    assert 'aria-label="Menu"' in tillgate.icon("bars-3", 20, "Menu")
    assert 'aria-hidden="true"' in tillgate.icon("bars-3", 20)


def test_a_label_of_an_icon_or_code_is_escaped() -> None:
    assert 'aria-label="&quot;&gt;&lt;b"' in tillgate.icon("check", 20, '"><b')
    assert 'aria-label="&quot;&gt;&lt;b"' in tillgate.qr("0xabc", '"><b')


@pytest.mark.parametrize(
    ("rate", "short", "shown"),
    [
        ("1800.000000000000000000", "1800", "€1,800.00"),
        ("0.921234567890000000", "0.9212", "€0.9212"),
        ("12.345678", "12.35", "€12.35"),
        ("0.00001234567", "0.00001235", "€0.00001235"),
    ],
)
def test_a_rate_is_told_with_the_places_that_count(rate: str, short: str, shown: str) -> None:
    assert money.short_rate(Decimal(rate)) == short
    assert tillgate.fiat_rate(short, "EUR") == shown


def test_an_address_in_fours_is_copied_whole_and_escaped() -> None:
    address = "0x8d093f9aCeabBfa8B22EF399E27Bd8915a3dEd0e"
    drawn = tillgate.in_fours(address)
    assert re.sub(r"<[^>]+>", "", drawn) == address
    assert re.findall(r"<b>(\w+)</b>", drawn) == ["0x8d09", "Ed0e"] and drawn.count("<span>") == 8
    assert "<img" not in tillgate.in_fours("<img onerror=1>")


def test_a_card_is_named_by_its_heading() -> None:
    page = Template('{% load components %}{% card "fees" heading %}<p>{{ text }}</p>{% endcard %}')
    assert page.render(Context({"heading": "Fees & taxes", "text": "<b>"})) == (
        '<section class="card" aria-labelledby="fees"><div class="card-head">'
        '<h2 id="fees">Fees &amp; taxes</h2></div><p>&lt;b&gt;</p></section>'
    )


def test_a_table_has_its_headings_and_the_rows_between_the_tags() -> None:
    page = Template(
        '{% load components %}{% table "Coin" "Fee:number" "Actions:hidden" last %}'
        "{% for row in rows %}<tr><td>{{ row }}</td></tr>{% endfor %}{% endtable %}"
    )
    assert page.render(Context({"rows": ["<b>"], "last": "<i>"})) == (
        '<div class="table-wrap"><table class="table stacks"><thead><tr><th scope="col">Coin</th>'
        '<th scope="col" class="number">Fee</th>'
        '<th scope="col"><span class="visually-hidden">Actions</span></th>'
        '<th scope="col">&lt;i&gt;</th></tr></thead>'
        "<tbody><tr><td>&lt;b&gt;</td></tr></tbody></table></div>"
    )


def test_an_empty_state_is_announced_where_a_search_found_nothing() -> None:
    state = (
        '{% load components %}{% empty_state "key" ROLE %}<h2>{{ title }}</h2>{% endempty_state %}'
    )
    plain, status = (
        Template(state.replace("ROLE", role)).render(Context({"title": "<b>"}))
        for role in ("", 'role="status"')
    )
    assert plain.startswith('<div class="card"><div class="empty"><svg')
    assert plain.endswith("<h2>&lt;b&gt;</h2></div></div>")
    assert status.startswith('<div class="card"><div class="empty" role="status"><svg')


def test_each_line_of_a_text_keeps_its_own_order_in_a_language_that_runs_left() -> None:
    with translation.override("ar"):
        assert tillgate.isolated_lines("Thank you.\nBye.") == (
            "\u2068Thank you.\u2069\n\u2068Bye.\u2069"
        )
    assert tillgate.isolated_lines("Thank you.\nBye.") == "Thank you.\nBye."


def test_a_number_is_not_broken_at_its_hyphen() -> None:
    assert tillgate.unbroken("<INV-0005>") == '<bdi class="nowrap">&lt;INV-0005&gt;</bdi>'
    long = "INV-" * 8
    assert tillgate.unbroken(long) == f'<bdi class="whole">{long}</bdi>'


def test_a_button_of_a_row_names_its_row_to_screen_readers() -> None:
    page = Template(
        "{% load components %}"
        '{% row_action "Revoke" name "dashboard:key_revoke" id tone="danger" %}'
    )
    id = "0192f3a1-0000-7000-8000-000000000000"
    assert page.render(Context({"name": '"Shop"', "id": id})) == (
        f'<a class="button small danger" href="/dashboard/api-keys/{id}/revoke"'
        ' aria-label="Revoke &quot;Shop&quot;">Revoke</a>'
    )
