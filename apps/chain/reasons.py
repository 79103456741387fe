"""Reasons why an outgoing transaction waits, has failed or needs a person: a code, which other code
goes by, and its sentence for people."""

from typing import NamedTuple

from django.db import models


class Reason(models.TextChoices):
    # It waits.
    SHORT = "short", "The hot wallet is short of funds"
    NETWORK_DEAR = "network_dear", "The network asks more for gas than the ceiling"
    NETWORK_SILENT = "network_silent", "The network can't say what it costs"
    TOKEN_STOPPED = "token_stopped", "The token refuses every transfer for now"
    WALLET_FROZEN = "wallet_frozen", "The token refuses transfers of our hot wallet for now"
    # It would pay nobody, so it has failed.
    WRONG_CHAIN = "wrong_chain", "The asset belongs to another chain"
    NO_CONTRACT = "no_contract", "The asset has no contract"
    DESTINATION_REFUSED = "destination_refused", "The destination is refused"
    RECIPIENT_REFUSES = "recipient_refuses", "The recipient refuses the transfer"
    RECIPIENT_COSTLY = "recipient_costly", "The recipient needs more gas than a transfer is given"
    TOO_SMALL = "too_small", "It is less than the network moves"
    NOT_LISTED = "not_listed", "The destination is not on the operator's list"
    EXCHANGE_REFUSES = "exchange_refuses", "The exchange refuses the swap"
    NO_EXCHANGE = "no_exchange", "The chain has no exchange"
    STRANGE_CALL = "strange_call", "The call is not what was asked for"
    TOKEN_REFUSES = "token_refuses", "The token refuses the authorization"
    NOT_TO_DEPOSIT = "not_to_deposit", "The coins would not come to a deposit address"
    FROM_HOT_WALLET = "from_hot_wallet", "The coins would leave a hot wallet"
    NOT_TO_COLD = "not_to_cold", "It is no transfer to cold storage"
    NOT_COLD_ADDRESS = "not_cold_address", "The destination is not the asset's cold address"
    PAYOUTS_WAIT = "payouts_wait", "Payouts wait for these coins"
    HOLDS_LESS = "holds_less", "The hot wallet holds less by now"
    NO_TRANSFER = "no_transfer", "It is no transfer"
    NOT_TO_HOT_WALLET = "not_to_hot_wallet", "A sweep goes to the hot wallet"
    NO_DEPOSIT_ADDRESS = "no_deposit_address", "It is no deposit address"
    WOULD_REVERT = "would_revert", "The transfer would be reverted"
    NOTHING_TO_JOIN = "nothing_to_join", "There is nothing to join any more"
    GAS_TOO_DEAR = "gas_too_dear", "Gas became too dear"
    REVERTED = "reverted", "The chain reverted it"
    MOVED_NOTHING = "moved_nothing", "It was mined and moved nothing to its recipient"
    NONCE_TAKEN = "nonce_taken", "Its nonce was used by another transaction"
    GIVEN_UP = "given_up", "Given up by an operator"
    # A person has to look.
    NOT_APPROVED = "not_approved", "Nobody approved it"
    NOT_RESERVED = "not_reserved", "The books have set nothing aside for it"
    ABOVE_ONE = "above_one", "It is above the limit of one transaction"
    ABOVE_DAY = "above_day", "It is above the limit of one day"
    ABOVE_PAID = "above_paid", "It is more than its payment has brought"
    NO_KEY = "no_key", "The seed has no key for the address"
    MAY_BE_SENT = "may_be_sent", "It may have been sent before the records were restored"
    SENT_BEFORE = "sent_before", "The wallet did the same before the records were restored"
    NONCE_AHEAD = "nonce_ahead", "The chain is ahead of our records"
    NONCE_UNKNOWN = "nonce_unknown", "Its nonce was used by a transaction that we do not know"
    COIN_TAKEN = "coin_taken", "Its coin was spent by a transaction that we do not know"
    MOVED_OTHERWISE = (
        "moved_otherwise",
        "It was mined, and the token reports no such transfer",
    )
    UNDONE = "undone", "The chain undid it, and did otherwise the second time"
    GIVEN_BACK = (
        "given_back",
        (
            "It was reverted and what it should have paid was given back; then the chain undid it."
            " Sent again, it could pay"
        ),
    )


class Refusal(NamedTuple):
    """Consequence and reason of a refusal to sign; `text` says more than the reason's own
    sentence."""

    status: str
    reason: Reason
    text: str = ""


# What nobody may sign as it is, no matter who asks: it was not asked for in the way that it has to
# be.
UNSIGNABLE = (Reason.NOT_APPROVED, Reason.NOT_RESERVED)


def because(reason: Reason | None, text: str = "") -> dict[str, str]:
    """The columns of a reason; `text` says more than its sentence. Without one both are emptied."""
    return (
        {"reason_code": "", "reason": ""}
        if reason is None
        else {"reason_code": reason.value, "reason": text or str(reason.label)}
    )
