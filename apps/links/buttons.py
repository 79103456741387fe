"""The button of a payment link for a merchant's own website: HTML that needs no script, style sheet
or file of ours.

The picture is SVG in the page itself; everything that goes into it is chosen from these tables or
escaped.
"""

from dataclasses import dataclass

from django.http import QueryDict
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from apps.core.money import text_from_cents
from apps.payments.units import WHOLE_UNIT_CURRENCIES

# size -> (height, size of the letters, space beside them), in pixels
SIZES = {"small": (32, 13, 14), "medium": (44, 16, 20), "large": (56, 20, 26)}
# color -> (ground, ink), each with a contrast of at least 7
COLORS = {
    "green": ("#07543b", "#ffffff"),
    "black": ("#14201b", "#ffffff"),
    "white": ("#ffffff", "#14201b"),
}
LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "ja": "日本語",
    "ar": "العربية",
}
_WORDS = {
    "pay": {
        "en": "Pay with crypto",
        "de": "Mit Krypto bezahlen",
        "fr": "Payer en crypto",
        "es": "Pagar con cripto",
        "ja": "暗号資産で支払う",
        "ar": "ادفع بالعملات المشفرة",
    },
    "buy": {
        "en": "Buy with crypto",
        "de": "Mit Krypto kaufen",
        "fr": "Acheter en crypto",
        "es": "Comprar con cripto",
        "ja": "暗号資産で購入",
        "ar": "اشترِ بالعملات المشفرة",
    },
    "donate": {
        "en": "Donate crypto",
        "de": "Krypto spenden",
        "fr": "Donner en crypto",
        "es": "Donar cripto",
        "ja": "暗号資産で寄付",
        "ar": "تبرع بالعملات المشفرة",
    },
}
VERBS = tuple(_WORDS)
_AMOUNT_WORDS = {
    "en": "Amount",
    "de": "Betrag",
    "fr": "Montant",
    "es": "Importe",
    "ja": "金額",
    "ar": "المبلغ",
}
_WIDE_LETTER = "\u2e80"  # from here on letters are as wide as they are high
_LETTER_SHARE = 0.58


@dataclass(frozen=True)
class Button:
    """A choice of each table."""

    size: str
    color: str
    verb: str
    language: str

    @classmethod
    def asked_by(cls, query: QueryDict, *, is_open_amount: bool) -> "Button":
        """A button from its query; values that aren't offered become the default."""

        def chosen(name: str, offered: dict[str, object], usual: str) -> str:
            return value if (value := query.get(name, "")) in offered else usual

        return cls(
            chosen("size", dict(SIZES), "medium"),
            chosen("color", dict(COLORS), "green"),
            chosen("verb", dict(_WORDS), "donate" if is_open_amount else "pay"),
            chosen("language", dict(LANGUAGES), "en"),
        )

    @property
    def words(self) -> str:
        return _WORDS[self.verb][self.language]

    @property
    def _width(self) -> int:
        _, letter, beside = SIZES[self.size]
        shares = sum(
            1.0 if character >= _WIDE_LETTER else _LETTER_SHARE for character in self.words
        )
        return round(shares * letter) + 2 * beside

    def picture(self) -> SafeString:
        """The button as SVG. Its words are letters, so that a page may copy and translate them."""
        (height, letter, _), (ground, ink), width = (
            SIZES[self.size],
            COLORS[self.color],
            self._width,
        )
        return format_html(
            '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}"'
            ' role="img" aria-label="{words}"><rect x=".5" y=".5" width="{iw}" height="{ih}" rx="8"'
            ' fill="{ground}" stroke="{ink}" stroke-opacity=".25"/><text x="{x}" y="{y}"'
            ' fill="{ink}" font-family="system-ui,sans-serif" font-size="{letter}"'
            ' font-weight="600" text-anchor="middle"'
            ' dominant-baseline="central">{words}</text></svg>',
            w=width,
            h=height,
            iw=width - 1,
            ih=height - 1,
            x=width // 2,
            y=height // 2,
            ground=ground,
            ink=ink,
            letter=letter,
            words=self.words,
        )

    def snippet(self, url: str) -> str:
        """A link with the picture in it: markup, to be escaped where it is shown."""
        return str(format_html('<a href="{}" lang="{}">{}</a>', url, self.language, self.picture()))

    def form(self, url: str, currency: str, min_cents: int | None, max_cents: int | None) -> str:
        """A form with a field for the amount, in the look of the page that it is put on."""
        step = "1" if (min_cents or 1) % 100 == 0 and currency in WHOLE_UNIT_CURRENCIES else "0.01"
        label = f"{_AMOUNT_WORDS[self.language]} ({currency})"
        least = text_from_cents(min_cents or 1)
        most = f' max="{text_from_cents(max_cents)}"' if max_cents else ""
        return (
            f'<form action="{escape(url)}" method="get" lang="{self.language}">\n '
            f' <label>{escape(label)} <input type="number" name="amount" min="{least}"{most}'
            f' step="{step}" required></label>\n  <button>{escape(self.words)}</button>\n</form>'
        )
