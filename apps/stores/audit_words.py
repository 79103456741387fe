"""What people read of a line in the audit log: `oauth_app.created` is `App created`.

The log keeps the code, which nothing changes. An action that isn't listed is read from its code, so
a new one needs a row here only where its code isn't what people say.
"""

# What is acted on, where its name in the code isn't what people call it.
_NOUNS = {
    "api_key": "API key",
    "asset": "coin",
    "auto_swap": "automatic swaps",
    "books": "ledger",
    "card_credential": "card network",
    "oauth_app": "app",
    "payout_batch": "mass payout",
    "payout_cap": "payout limit",
    "person": "personal account",
    "till": "point of sale",
    "verification": "business verification",
}
# Acts whose two parts don't make a sentence.
_SENTENCES = {
    "agent.cap_changed": "Agent limit changed",
    "asset.changed": "Asset changed",
    "asset.kept_stopped": "Coin kept stopped after a review",
    "asset.review_ended": "Coin accepted again after a review",
    "email.changed": "Email address changed",
    "invoice.drafted": "Invoice draft created",
    "member.invited": "Person invited to the team",
    "member.joined": "Person joined the team",
    "member.left": "Person left the team",
    "member.removed": "Person removed from the team",
    "member.role_changed": "Role of a team member changed",
    "oauth_app.let_in": "App authorized",
    "oauth_app.let_out": "App authorization revoked",
    "oauth_app.rotated": "App secret replaced",
    "payment.noted": "Note added to a payment",
    "payout_destination.unverified": "Verification of a payout destination revoked",
    "second_factor.codes_renewed": "Backup codes renewed",
    "session.others_ended": "Other sessions ended",
    "staff.added": "Added by staff",
    "staff.changed": "Changed by staff",
    "staff.deleted": "Deleted by staff",
    "staff.searched": "Staff search",
    "staff_request.asked": "Staff request submitted",
    "store.changed": "Settings changed",
    "store.cooling_changed": "Waiting period changed",
    "store.cooling_kept": "Shorter waiting period stopped",
    "store.domain_changed": "Domain changed",
    "store.domain_stopped": "Domain stopped",
    "store.domain_verified": "Domain verified",
    "store.ownership_handed_over": "Ownership transferred",
}


def action_words(action: str) -> str:
    """Of an action, `<noun>.<done>`."""
    if action in _SENTENCES:
        return _SENTENCES[action]
    noun, _, done = action.partition(".")
    text = f"{_NOUNS.get(noun, noun.replace('_', ' '))} {done.replace('_', ' ')}".rstrip()
    return text[:1].upper() + text[1:]
