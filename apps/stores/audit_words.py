"""Words for the lines of the audit log: `oauth_app.created` is `App created`.

The log keeps the code, which nothing changes. An action that isn't listed is read from its code, so
a new one needs a row here only where its code isn't what people say.
"""

from django.utils.translation import gettext_noop

# What is acted on, where its name in the code isn't what people call it.
_NOUNS = {
    "api_key": "API key",
    "asset": "coin",
    "auto_swap": gettext_noop("automatic swaps"),
    "books": "ledger",
    "card_credential": gettext_noop("card network"),
    "oauth_app": "app",
    "payout_batch": gettext_noop("mass payout"),
    "payout_cap": gettext_noop("payout limit"),
    "person": gettext_noop("personal account"),
    "till": gettext_noop("point of sale"),
    "verification": gettext_noop("business verification"),
}
# Acts whose two parts don't make a sentence.
_SENTENCES = {
    "agent.cap_changed": gettext_noop("Agent limit changed"),
    "asset.changed": gettext_noop("Asset changed"),
    "asset.kept_stopped": gettext_noop("Coin kept stopped after a review"),
    "asset.lowest_price_changed": gettext_noop("Lowest price of a coin changed"),
    "asset.review_ended": gettext_noop("Coin accepted again after a review"),
    "email.changed": gettext_noop("Email address changed"),
    "invoice.drafted": gettext_noop("Invoice draft created"),
    "member.invited": gettext_noop("Person invited to the team"),
    "member.joined": gettext_noop("Person joined the team"),
    "member.left": gettext_noop("Person left the team"),
    "member.removed": gettext_noop("Person removed from the team"),
    "member.role_changed": gettext_noop("Role of a team member changed"),
    "oauth_app.let_in": gettext_noop("App authorized"),
    "oauth_app.let_out": gettext_noop("App authorization revoked"),
    "oauth_app.rotated": gettext_noop("App secret replaced"),
    "payment.noted": gettext_noop("Note added to a payment"),
    "payout_destination.unverified": gettext_noop("Verification of a payout destination revoked"),
    "second_factor.codes_renewed": gettext_noop("Backup codes renewed"),
    "session.others_ended": gettext_noop("Other sessions ended"),
    "staff.added": gettext_noop("Added by staff"),
    "staff.changed": gettext_noop("Changed by staff"),
    "staff.deleted": gettext_noop("Deleted by staff"),
    "staff.searched": gettext_noop("Staff search"),
    "staff_request.asked": gettext_noop("Staff request submitted"),
    "test_data.opened": gettext_noop("Test mode opened again after a reset"),
    "test_data.reset": gettext_noop("Test data put away"),
    "test_data.reset_asked": gettext_noop("Reset of the test data started"),
    "store.changed": gettext_noop("Settings changed"),
    "store.cooling_changed": gettext_noop("Waiting period changed"),
    "store.cooling_kept": gettext_noop("Shorter waiting period stopped"),
    "store.domain_changed": gettext_noop("Domain changed"),
    "store.domain_stopped": gettext_noop("Domain stopped"),
    "store.domain_verified": gettext_noop("Domain verified"),
    "store.ownership_handed_over": gettext_noop("Ownership transferred"),
}


def action_words(action: str) -> str:
    """Of an action, `<noun>.<done>`."""
    if action in _SENTENCES:
        return _SENTENCES[action]
    noun, _, done = action.partition(".")
    text = f"{_NOUNS.get(noun, noun.replace('_', ' '))} {done.replace('_', ' ')}".rstrip()
    return text[:1].upper() + text[1:]
