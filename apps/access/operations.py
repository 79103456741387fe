"""THE table of operations: what moves money or opens a way for it, who may do it, with which proof.

A service asks `check`; no view decides. A test refuses an operation that has no row here.
"""

from dataclasses import dataclass, replace

from apps.access import scopes
from apps.access.access import ACT, AGENT, OAUTH, RECENT, SECRET, SESSION, Access
from apps.access.factors import stepup
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Mode
from apps.stores import roles
from apps.stores.models import User
from apps.stores.roles import DEVELOP, INSPECT, MANAGE, MOVE_MONEY, OWN

ANY_SCOPE = "any"  # a key needs none of its scopes for it
YOURSELF = "yourself"  # a permission that nobody has over another
NEVER = "never"
LIVE = "live"
ALWAYS = "always"
NO_CODE = ""
PASSWORD = "password"  # noqa: S105  # the name of a kind
_WITH_ANY_SCOPE = (SESSION, SECRET, OAUTH)


class RoleForbids(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "role_forbidden"
    message = "Your role does not allow this"


class MayNotIssueCredentials(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "platform_cannot_issue_credentials"
    message = "A platform can't issue, rotate or revoke credentials of a sub-merchant"


class PasswordRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "password_required"
    message = "Type your password again"


class WrongCredential(Failure):
    """A credential would do what only a signed-in person, or only another kind of credential,
    does."""

    kind = RefusalKind.FORBIDDEN
    code = "credential_forbidden"
    message = "This kind of credential can't do this"


@dataclass(frozen=True)
class Operation:
    """A row.

    `permission` is the role's (empty: no person does it), `key` and `agent` the scope that a key or
    an app's token, or an agent, needs (None: they don't do it). `factor` says in which modes a
    person must have a second factor, `code` which proof of it they show: one of the last five
    minutes, or one for this very act, or the password again. What belongs to a store and to no mode
    counts as live. With `waits`, what a person adds in live mode can't be used, or as a credential
    send coins to new addresses, until the store's waiting period has passed. `emails` names who
    gets an email about it, in live mode where it has a mode (apps.access.operation_emails).
    """

    name: str
    does: str
    permission: str
    key: str | None = None
    agent: str | None = None
    factor: str = LIVE
    code: str = NO_CODE
    has_mode: bool = True
    waits: bool = False
    for_platforms: bool = True  # whether a platform may do it while it acts for its sub-merchant
    emails: str = ""


OUT = "payouts:write"
BACK = "refunds:write"
HOOKS = "webhooks:write"
ACCOUNTS = "accounts:write"
DRAW = "x402:write"
OWNERS = "owners"
PERSON = "the person"
TEAM = "owners and the member"

PAYOUT = Operation(
    "payout.create", "Pay out to a wallet", MOVE_MONEY, OUT, OUT, factor=ALWAYS, code=ACT
)
BANK_PAYOUT = Operation(
    "payout.create_to_bank", "Pay out to a bank account", MOVE_MONEY, OUT, code=ACT
)
PAYOUT_RETRY = Operation("payout.retry", "Retry a failed payout", MOVE_MONEY, OUT, code=ACT)
PAYOUT_GIVE_UP = Operation(
    "payout.give_up", "Return a failed payout’s coins", MOVE_MONEY, factor=NEVER
)
PAYOUT_APPROVE = Operation(
    "payout.approve",
    "Approve a payout above the approval limit",
    MOVE_MONEY,
    factor=ALWAYS,
    code=ACT,
    for_platforms=False,
)
PAYOUT_REJECT = Operation(
    "payout.reject",
    "Reject a payout above the approval limit",
    MOVE_MONEY,
    factor=NEVER,
    for_platforms=False,
)
BATCH_RELEASE = Operation(
    "payout_batch.release",
    "Send a mass payout",
    MOVE_MONEY,
    factor=ALWAYS,
    code=ACT,
    waits=True,
    emails=OWNERS,
)
BATCH_DISCARD = Operation("payout_batch.discard", "Discard a mass payout", MOVE_MONEY, factor=NEVER)
REFUND = Operation(
    "refund.create", "Refund a payment", MOVE_MONEY, BACK, "payments:write", code=ACT
)
LATE_DEPOSIT = Operation(
    "late_deposit.accept", "Accept a late deposit", MOVE_MONEY, BACK, code=RECENT
)
SHORTFALL = Operation(
    "payment.accept_shortfall", "Accept an underpaid payment", MOVE_MONEY, BACK, code=RECENT
)
TRANSFER_ACCEPT = Operation(
    "unmatched_transfer.accept", "Accept an unmatched transfer", MOVE_MONEY, BACK, code=ACT
)
TRANSFER_RETURN = Operation(
    "unmatched_transfer.return", "Return an unmatched transfer", MOVE_MONEY, code=ACT
)
SWAP = Operation("swap.create", "Swap a balance", MOVE_MONEY, ANY_SCOPE, factor=ALWAYS, code=ACT)
MANDATE = Operation("mandate.create", "Issue a mandate that an agent draws on", "", None, DRAW)
SETTLEMENT = Operation("settlement.create", "Draw on a mandate", "", None, DRAW)
MANDATE_REVOKE = Operation("mandate.revoke", "Revoke a mandate", DEVELOP, factor=NEVER)

# Where money goes without being asked again.
DESTINATION_ADD = Operation(
    "payout_destination.add",
    "Save a wallet or bank account",
    MOVE_MONEY,
    code=ACT,
    waits=True,
    for_platforms=False,
    emails=OWNERS,
)
DESTINATION_REMOVE = Operation(
    "payout_destination.remove", "Remove a wallet or bank account", MOVE_MONEY, factor=NEVER
)
WALLET_CHANGE = replace(
    DESTINATION_ADD, name="own_wallet.change", does="Change an asset’s wallet", permission=OWN
)
SCHEDULE_CREATE = Operation(
    "payout_schedule.create",
    "Create a payout schedule",
    MOVE_MONEY,
    OUT,
    code=ACT,
    waits=True,
    emails=OWNERS,
)
SCHEDULE_CHANGE = Operation(
    "payout_schedule.change",
    "Change a payout schedule",
    MOVE_MONEY,
    OUT,
    code=ACT,
    waits=True,
    emails=OWNERS,
)
SCHEDULE_RESUME = Operation(
    "payout_schedule.resume", "Resume a payout schedule", MOVE_MONEY, OUT, code=ACT
)
SCHEDULE_PAUSE = Operation(
    "payout_schedule.pause", "Pause a payout schedule", MOVE_MONEY, OUT, factor=NEVER
)
SCHEDULE_RUN = Operation(
    "payout_schedule.run", "Run a payout schedule now", MOVE_MONEY, OUT, factor=ALWAYS, code=ACT
)
SCHEDULE_DELETE = Operation(
    "payout_schedule.delete", "Delete a payout schedule", MOVE_MONEY, OUT, factor=NEVER
)
AUTO_SWAP = Operation(
    "auto_swap.change", "Configure automatic swaps", MOVE_MONEY, code=ACT, waits=True, emails=OWNERS
)
AUTO_SWAP_STOP = Operation("auto_swap.stop", "Turn off automatic swaps", MOVE_MONEY, factor=NEVER)
AGENT_CAPS = Operation("agent.cap_change", "Change an agent’s payout caps", MOVE_MONEY, code=ACT)
WAITING_PERIOD_CHANGE = Operation(
    "store.change_cooling",
    "Change the waiting period of new destinations",
    OWN,
    code=ACT,
    has_mode=False,
    waits=True,
    emails=OWNERS,
)
BTCPAY_API = ("store.change_btcpay_api", "Turn the API of BTCPay Server on or off")
COMPATIBLE_APIS = Operation(*BTCPAY_API, OWN, code=RECENT, has_mode=False, emails=OWNERS)
APPROVAL_CHANGE = Operation(
    "store.change_payout_approval",
    "Configure the approval limit for payouts",
    OWN,
    code=ACT,
    waits=True,
    for_platforms=False,
    emails=OWNERS,
)

# Credentials. Those with a scope of this table open a way for money; nobody gives one beyond their
# own rights.
CREDENTIALS_SEE = Operation(
    "api_key.see",
    "See the store’s API keys and OAuth apps",
    INSPECT,
    factor=NEVER,
    has_mode=False,
    for_platforms=False,
)
KEY_CREATE = Operation(
    "api_key.create",
    "Create any other API key",
    DEVELOP,
    factor=NEVER,
    code=ACT,
    for_platforms=False,
)
GUARDED_KEY_CREATE = Operation(
    "api_key.create_guarded",
    "Create an API key that can move money or allow it",
    DEVELOP,
    code=ACT,
    waits=True,
    for_platforms=False,
    emails=OWNERS,
)
KEY_REVOKE = Operation(
    "api_key.revoke", "Revoke an API key", DEVELOP, factor=NEVER, for_platforms=False
)
AGENT_CREATE = Operation(
    "agent.create", "Create any other agent", DEVELOP, factor=NEVER, code=ACT, for_platforms=False
)
GUARDED_AGENT_CREATE = Operation(
    "agent.create_guarded",
    "Create an agent that can move money or allow it",
    MOVE_MONEY,
    code=ACT,
    waits=True,
    for_platforms=False,
    emails=OWNERS,
)
AGENT_REVOKE = Operation(
    "agent.revoke", "Revoke an agent", DEVELOP, factor=NEVER, for_platforms=False
)
APP_CREATE = Operation(
    "oauth_app.create",
    "Create an OAuth app",
    DEVELOP,
    factor=NEVER,
    code=RECENT,
    has_mode=False,
    for_platforms=False,
)
APP_CHANGE = Operation(
    "oauth_app.change",
    "Change an OAuth app, its scopes or redirect addresses",
    DEVELOP,
    code=ACT,
    for_platforms=False,
)
APP_ROTATE = Operation(
    "oauth_app.rotate_secret",
    "Replace an OAuth app’s secret",
    DEVELOP,
    code=ACT,
    for_platforms=False,
)
APP_DEACTIVATE = Operation(
    "oauth_app.deactivate",
    "Deactivate an OAuth app",
    DEVELOP,
    factor=NEVER,
    code=RECENT,
    has_mode=False,
    for_platforms=False,
)
GRANT = Operation(
    "oauth_grant.give",
    "Authorize any other app",
    DEVELOP,
    factor=NEVER,
    code=ACT,
    for_platforms=False,
)
GUARDED_GRANT = Operation(
    "oauth_grant.give_guarded",
    "Authorize an app that can move money or allow it",
    DEVELOP,
    code=ACT,
    waits=True,
    for_platforms=False,
    emails=OWNERS,
)
GRANT_REVOKE = Operation(
    "oauth_grant.revoke", "Revoke an app’s access", DEVELOP, factor=NEVER, for_platforms=False
)
APP_AGENT = Operation(
    "oauth_agent.create", "Create an agent for an app", "", scopes.AGENTS, for_platforms=False
)
TAKE_OVER = Operation(
    "credential.take_over",
    "Take over the key or agent of a member with fewer permissions",
    OWN,
    code=ACT,
    waits=True,
    emails=OWNERS,
)
ACT_FOR = Operation("account.act_for", "Act for a sub-merchant", MANAGE, scopes.ACT, factor=NEVER)

# Where the store's events go, and its platform's accounts.
HOOK_CREATE = Operation(
    "webhook_endpoint.create", "Add a webhook endpoint", DEVELOP, HOOKS, code=RECENT
)
HOOK_CHANGE = Operation(
    "webhook_endpoint.change", "Change a webhook endpoint", DEVELOP, HOOKS, code=RECENT
)
HOOK_ROTATE = Operation(
    "webhook_endpoint.rotate_secret",
    "Replace a webhook’s signing secret",
    DEVELOP,
    HOOKS,
    code=RECENT,
)
HOOK_SWITCH = Operation(
    "webhook_endpoint.switch", "Turn a webhook endpoint on or off", DEVELOP, HOOKS, factor=NEVER
)
HOOK_DELETE = Operation(
    "webhook_endpoint.delete",
    "Delete a webhook endpoint",
    DEVELOP,
    HOOKS,
    factor=NEVER,
    code=RECENT,
)
LINK_CREATE = Operation(
    "onboarding_link.create",
    "Create an onboarding link",
    MANAGE,
    ACCOUNTS,
    code=ACT,
    for_platforms=False,
)
ACCOUNT_CLOSE = Operation(
    "account.close",
    "Close a sub-merchant’s account",
    MANAGE,
    ACCOUNTS,
    code=RECENT,
    for_platforms=False,
)

TEST_DATA_RESET = Operation("test_data.reset", "Reset test data", OWN, factor=ALWAYS, code=ACT)
STORE_CLOSE = Operation(
    "store.close",
    "Close the store",
    OWN,
    factor=ALWAYS,
    code=RECENT,
    has_mode=False,
    for_platforms=False,
    emails=OWNERS,
)

INVITE = Operation(
    "member.invite", "Invite a member, or resend the invitation", MANAGE, code=ACT, has_mode=False
)
INVITE_REVOKE = Operation(
    "member.revoke_invitation", "Revoke an invitation", MANAGE, factor=NEVER, has_mode=False
)
ROLE_CHANGE = Operation(
    "member.change_role", "Change a member’s role", MANAGE, code=ACT, has_mode=False, emails=TEAM
)
MEMBER_REMOVE = Operation(
    "member.remove", "Remove a member", MANAGE, code=RECENT, has_mode=False, emails=TEAM
)
HAND_OVER = Operation(
    "member.hand_over", "Transfer ownership", OWN, code=ACT, has_mode=False, emails=TEAM
)
FACTOR_ENROLL = Operation(
    "second_factor.set_up",
    "Set up your authenticator app",
    YOURSELF,
    factor=NEVER,
    code=PASSWORD,
    emails=PERSON,
)
FACTOR_REMOVE = Operation(
    "second_factor.remove",
    "Remove your authenticator app",
    YOURSELF,
    factor=NEVER,
    code=ACT,
    emails=PERSON,
)
CODES_RENEW = Operation(
    "second_factor.renew_codes",
    "Create new backup codes",
    YOURSELF,
    factor=NEVER,
    code=ACT,
    emails=PERSON,
)
PASSKEY_ADD = Operation(
    "passkey.add", "Add a passkey", YOURSELF, factor=NEVER, code=ACT, emails=PERSON
)
PASSKEY_REMOVE = Operation(
    "passkey.remove", "Remove a passkey", YOURSELF, factor=NEVER, code=ACT, emails=PERSON
)
EMAIL_CHANGE = Operation(
    "account.change_email",
    "Change your email address",
    YOURSELF,
    factor=NEVER,
    code=ACT,
    emails=PERSON,
)

TABLE: tuple[Operation, ...] = tuple(
    row for row in list(globals().values()) if isinstance(row, Operation)
)
# Asking customers for money is nobody's loss: the scopes for it are no way out.
GUARDED_SCOPES = (
    frozenset(
        scope for row in TABLE for scope in (row.key, row.agent) if scope not in (None, ANY_SCOPE)
    )
    - roles.PAY_SCOPES
)


def check(access: Access | None, operation: Operation, *, mode: str | None = None) -> None:
    """Refuses an operation without permission or the required proof. None, the operator, may all.

    `mode` is that of what is changed, where it isn't the access's. Raises WrongCredential,
    RoleForbids, a missing scope, MayNotIssueCredentials, stepup.SecondFactorRequired or
    stepup.StepUpRequired.
    """
    if access is None:
        return
    if access.platform is not None and not operation.for_platforms:
        raise MayNotIssueCredentials
    _check_scope(access, operation)
    if (
        access.role is not None
        and operation.permission
        and not roles.may(access.role, operation.permission)
    ):
        raise RoleForbids
    if access.user is not None:
        concerned = (mode or access.mode) if operation.has_mode else Mode.LIVE
        check_person(access.user, operation, concerned, access.proof)


def foresee(access: Access, operation: Operation) -> None:
    """Refuses an operation that even a code wouldn't allow, before a code is requested."""
    check(replace(access, proof=ACT), operation)


def _check_scope(access: Access, operation: Operation) -> None:
    required = operation.agent if access.kind == AGENT else operation.key
    if access.kind == SESSION and operation.permission and required is None:
        return
    if required is None or (required == ANY_SCOPE and access.kind not in _WITH_ANY_SCOPE):
        raise WrongCredential
    if required != ANY_SCOPE and required not in access.scopes:
        raise Failure(
            scopes.missing_message(required), code="insufficient_scope", kind=RefusalKind.FORBIDDEN
        )


def check_person(user: User, operation: Operation, mode: str, proof: str) -> None:
    """Checks the second factor that a person shows. Who has none shows a code of none, where none
    is needed."""
    is_needed = operation.factor == ALWAYS or (operation.factor == LIVE and mode == Mode.LIVE)
    is_shown = not operation.code or proof == ACT or proof == operation.code
    if is_shown and not is_needed:
        return
    if operation.code == PASSWORD and not is_shown:
        raise PasswordRequired
    if is_needed:
        stepup.require_second_factor(user)
    elif stepup.lacks_second_factor(user):
        return
    if not is_shown:
        raise stepup.StepUpRequired
