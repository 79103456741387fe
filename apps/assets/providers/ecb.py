"""The European Central Bank's daily file: what a euro is in some thirty currencies, set on working
days at about 16:00 in Frankfurt. For reference alone: it prices no coin, only the way from one
currency to another that no exchange trades."""

from datetime import date
from decimal import Decimal
from xml.etree import ElementTree as Xml

from apps.assets.providers.base import Crosses
from apps.core.errors import ErrorCode, ProviderError
from apps.core.money import read_rate
from apps.core.outbound.net import get_bytes

_CUBE = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"


class Ecb:
    name = "ecb"

    def __init__(self, url: str, timeout_seconds: float = 10.0) -> None:
        self.url = url
        self.timeout_seconds = timeout_seconds

    def crosses(self) -> Crosses:
        """Raises ProviderError."""
        raw = get_bytes(self.url, accept="application/xml, text/xml", timeout=self.timeout_seconds)
        try:
            if b"<!DOCTYPE" in raw:
                raise ValueError("the file has no document type")
            root = Xml.fromstring(raw)  # noqa: S314  without a document type nothing is expanded
            [cube] = [cube for cube in root.iter(_CUBE) if cube.get("time")]
            day = date.fromisoformat(str(cube.get("time")))
        except (Xml.ParseError, ValueError):
            raise ProviderError(ErrorCode.MALFORMED, "not the documented file") from None
        per_euro = {
            currency: rate
            for entry in cube.iter(_CUBE)
            if (currency := entry.get("currency")) and (rate := read_rate(entry.get("rate")))
        }
        if not per_euro:
            raise ProviderError(ErrorCode.MALFORMED, "a day without rates")
        return Crosses(day, {**per_euro, "EUR": Decimal(1)})
