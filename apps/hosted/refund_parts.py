"""The part of a payment's page about coins that go back, or wait for an address to go to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.chain.networks.families import addresses_of, shown_address
from apps.core import emails
from apps.payments.documents.held import Outlook, outlook
from apps.payments.models import Payment
from apps.payments.services import refund_destinations
from apps.payments.services.refund_links import known_email


@dataclass(frozen=True)
class RefundPart:
    """Coins that go back, for the page. `token` is there for who came by the link of the email;
    `messages` are what senders may sign for the address that was entered."""

    outlook: Outlook = field(default_factory=Outlook)
    email: str = ""
    token: str = ""
    address: str = ""
    problem: str = ""
    beginning: str = ""  # of such an address, to show how one looks
    messages: list[tuple[str, str]] = field(default_factory=list)
    is_sent: bool = False  # the email, a moment ago
    is_entered: bool = False  # an address, for the merchant
    has_signers: bool = False


def part_of(
    payment: Payment,
    *,
    query: Mapping[str, str] | None = None,
    token: str = "",
    address: str = "",
    problem: str = "",
) -> RefundPart:
    """Of a payment that has ended."""
    prospects = outlook(payment)
    if not prospects.waiting:
        return RefundPart(prospects, problem=problem)
    answers = query or {}
    email = known_email(payment)
    waiting = refund_destinations.waiting_rows(payment)
    payers = refund_destinations.signers(payment)
    return RefundPart(
        prospects,
        email=emails.masked(email) if email else "",
        token=token,
        address=address,
        problem=problem,
        beginning=addresses_of(waiting[0].asset.chain).beginning if waiting else "",
        messages=[
            (shown_address(payer), refund_destinations.message_to_sign(payment, payer, address))
            for payer in payers
        ]
        if address and not token and not problem
        else [],
        is_sent=answers.get("refund") == "sent",
        is_entered=bool(address) and not token and not problem,
        has_signers=bool(payers),
    )
