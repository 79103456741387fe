"""A card payment as it is shown to the customer who opened it, and to the store whose intent it
pays; what there is to choose from."""

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from apps.chain.networks.families import shown_address
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Document, Id, Time
from apps.onramp.models import FundingSession


class CardSessionDocument(Document, frozen=True, kw_only=True):
    """A card session as the customer's page needs it."""

    id: Id
    provider: str
    status: str
    amount_cents: int
    currency: str
    expires_at: Time | None
    paid_at: Time | None
    provider_txid: str | None
    created_at: Time
    url: str | None


class PaymentCardSession(CardSessionDocument, frozen=True, kw_only=True):
    """`onramp_session` of a payment's detail view."""

    provider_name: str | None
    destination_address: str


class CardUnavailableDocument(Document, frozen=True, kw_only=True):
    """Why a payment can't be paid by card; the figures of the limit that it breaks."""

    reason: str
    message: str
    charge_amount_cents: int | UnsetType = UNSET
    min_amount_cents: int | UnsetType = UNSET
    max_amount_cents: int | UnsetType | None = UNSET
    currency: str | UnsetType = UNSET


class CardProviderDocument(Document, frozen=True, kw_only=True):
    """A provider that would carry a method out, and its cost."""

    id: str
    name: str
    slug: str
    icon_url: str | None
    charge_amount_cents: int
    converted_amount_cents: int
    crypto_amount: Decimals
    no_kyc: bool
    recommended: bool


class CardMethodDocument(Document, frozen=True, kw_only=True):
    """A method; its figures are its first provider's."""

    id: str
    name: str
    code: str
    letter_id: str | None
    icon_url: str | None
    crypto_symbol: str
    charge_amount_cents: int
    converted_amount_cents: int
    crypto_amount: Decimals
    provider_id: str
    provider_name: str
    providers: list[CardProviderDocument]


class CardMethodsDocument(Document, frozen=True, kw_only=True):
    """GET /checkout/{reference}/onramp/payment_methods."""

    provider: str
    currency: str
    settlement_amount_cents: int
    service_fee_cents: int
    fee_borne_by: str
    payment_methods: list[CardMethodDocument]


def session_document(session: FundingSession) -> CardSessionDocument:
    return CardSessionDocument(
        id=str(session.pk),
        provider=session.provider,
        status=session.status,
        amount_cents=session.amount_cents,
        currency=session.currency,
        expires_at=iso(session.expires_at),
        paid_at=iso(session.paid_at),
        provider_txid=session.provider_txid,
        created_at=iso(session.created_at),
        url=session.url,
    )


def payment_session(session: FundingSession) -> PaymentCardSession:
    return PaymentCardSession(
        **asdict(session_document(session)),
        provider_name=session.provider_name,
        destination_address=shown_address(session.destination_address),
    )
