"""A stand-in for a network of e-invoices, for demos and test mode, which sends nothing anywhere. It
refuses what access points refuse: a receiver whom nobody has registered, an unknown list of
addresses, a document that isn't one, and one for somebody else.

Receivers whose digits begin with these aren't registered, or can't be reached.
"""

from xml.etree import ElementTree as Xml

from apps.billing.providers.base import Parcel, ParcelAnswer, ParcelState
from apps.core.errors import ErrorCode, ProviderError

UNREGISTERED = "00"
AWAY = "99"
_LIST_LENGTH = 4
_CBC = "{urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2}"


class LocalNetwork:
    def send(self, parcel: Parcel) -> ParcelAnswer:
        return self.look(parcel)

    def look(self, parcel: Parcel) -> ParcelAnswer:
        scheme, _, number = parcel.receiver.partition(":")
        digits = "".join(letter for letter in number if letter.isdigit())
        if digits.startswith(AWAY):
            raise ProviderError(ErrorCode.UNREACHABLE, "The receiver’s access point is away")
        if len(scheme) != _LIST_LENGTH or not scheme.isdigit():
            return _refused(f"Failed to parse the receiving participant ID '{parcel.receiver}'")
        if digits.startswith(UNREGISTERED):
            return _refused(f"The receiver '{parcel.receiver}' isn’t registered for this document")
        if not _is_for(parcel):
            return _refused("The document is not an e-invoice from this sender for this receiver")
        return ParcelAnswer(ParcelState.DELIVERED)


def _refused(message: str) -> ParcelAnswer:
    return ParcelAnswer(ParcelState.REFUSED, message)


def _is_for(parcel: Parcel) -> bool:
    try:
        root = Xml.fromstring(parcel.content)  # noqa: S314  # of our own writing
    except Xml.ParseError:
        return False
    kind = "CreditNote" if parcel.is_credit_note else "Invoice"
    named = [f"{item.get('schemeID')}:{item.text}" for item in root.iter(f"{_CBC}EndpointID")]
    return root.tag.endswith(f"}}{kind}") and named == [parcel.sender, parcel.receiver]
