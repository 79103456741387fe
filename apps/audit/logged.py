"""Settings that decide about money are what the audit log last said of them.

Nobody may write such a setting without a line; so one that was changed in the database alone says
something else than the newest line that names it. One that no line names is not compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.core.invariant import Invariant


@dataclass(frozen=True)
class Logged:
    """Settings of one kind: the acts whose lines name them, and the SQL of what they are now: the
    target of the lines, the name and the value as text, and which of several it has of a kind.
    `target` and `part` are that of a line `l`."""

    what: str
    actions: Sequence[str]
    names: Sequence[str]
    now: str
    target: str = "l.target_id"
    part: str = "''"
    may_be_gone: bool = False  # when it isn't there, nobody has changed it
    until: str = "false"  # of a later line `u` after which `l` says nothing any more


def _of_columns(rows: str, target: str, part: str, /, **columns: str) -> str:
    """Each column of each row: its name in the log, and its value."""
    values = ", ".join(f"('{name}', ({value})::text)" for name, value in columns.items())
    return (
        f"SELECT {target}::text AS target, {part} AS part, v.name, v.value"  # noqa: S608  # our own text
        f" FROM {rows} CROSS JOIN LATERAL (VALUES {values}) v (name, value)"
    )


_OF_STORE = {
    name: f"s.{name}"
    for name in [
        "settlement_currency",
        "accept_overpayments",
        "accept_underpayments",
        "underpayment_tolerance_bps",
        "overpayment_tolerance_bps",
        "customer_pays_fee",
        "fee_fraction",
        "platform_fee_fraction",
        "platform_fee_ceiling_fraction",
        "platform_id",
        "is_platform",
        "card_funding_live",
        "card_funding_test",
    ]
}
# Of these times the lines are compared with whether there is one.
_MOMENTS = (
    "kyc_confirmed_at",
    "payments_suspended_at",
    "payouts_suspended_at",
    "sign_ins_suspended_at",
)
_OF_STORE |= {name: f"s.{name} IS NOT NULL" for name in _MOMENTS}
# And of these with the time itself: from when something may be done.
_TIMES = ("usable_from", "cools_until", "sends_anywhere_from", "expires_at")
# As much of a text as a line keeps, and of the hash of what no line may have.
_TEXT_MAX = 500
_FINGERPRINT = 16
_OF_PAYOUTS = {
    name: f"p.{name}"
    for name in [
        "payout_network_fee",
        "payout_review_threshold_cents",
        "review_new_destinations",
        "platform_may_pay_out",
    ]
}
_OF_AGENTS = {name: f"a.{name}" for name in ("x402_dispatch", "checkout_signatures")}
_STORES = (
    "stores_store s LEFT JOIN payouts_payoutsettings p ON p.store_id = s.id"
    " LEFT JOIN agents_agentsettings a ON a.store_id = s.id"
)
_CAPS = {"per_tx_atomic": "c.per_tx_atomic", "daily_atomic": "c.daily_atomic"}
_LINK = {name: f"k.{name}" for name in ("amount_cents", "min_cents", "max_cents", "stock")}
_SCHEDULE = {
    "frequency": "c.frequency",
    "minimum_fiat_cents": "c.minimum_fiat_cents",
    "minimum_fiat_currency": "c.minimum_fiat_currency",
    "swap_target_asset_id": "c.swap_target_asset_id",
    "destination": "coalesce(c.destination_id::text, lower(c.destination_address))",
    "usable_from": "c.usable_from",
    "is_active": "c.is_active",
}
_WAITS = {"usable_from": "d.usable_from", "cools_until": "d.cools_until"}
_ASKED = {name: f"a.{name}" for name in ("worth_cents", "currency", "above_cents", "expires_at")}
_CREDENTIAL = {
    "user": "c.user_id",
    "sends_anywhere_from": "c.sends_anywhere_from",
    "fingerprint": f"left(encode(sha256(c.secret_hash), 'hex'), {_FINGERPRINT})",
}
_EVENTS = "SELECT string_agg(n, ', ' ORDER BY n COLLATE \"C\") FROM unnest(e.subscribed_events) n"
_ENDPOINT = {
    "url_fingerprint": f"left(encode(sha256(convert_to(e.url, 'UTF8')), 'hex'), {_FINGERPRINT})",
    "events": f"left(({_EVENTS}), {_TEXT_MAX})",
}
# How the lines of schedules name where they pay to.
_DESTINATIONS = ("fiat_payout_detail_id", "crypto_payout_detail_id", "destination_address")

SETTINGS = (
    Logged(
        "store",
        ("store.changed", "account.changed", "staff.changed"),
        (*_OF_STORE, *_OF_PAYOUTS, *_OF_AGENTS),
        _of_columns(_STORES, "s.id", "''", **_OF_STORE, **_OF_PAYOUTS, **_OF_AGENTS),
    ),
    Logged(
        "payout cap",
        ("payout_cap.changed",),
        tuple(_CAPS),
        _of_columns("payouts_storepayoutcap c", "c.id", "''", **_CAPS),
    ),
    Logged(
        "agent's cap",
        ("agent.cap_changed",),
        tuple(_CAPS),
        _of_columns("agents_agentpayoutcap c", "c.credential_id", "c.asset_id", **_CAPS),
        part="coalesce(l.details ->> 'asset_id', '')",
    ),
    Logged(
        "approval rule",
        ("store.payout_approval_changed", "store.payout_approval_kept"),
        ("above_cents", "currency"),
        _of_columns(
            "payouts_approvalrule r",
            "r.id",
            "''",
            above_cents="CASE WHEN r.next_from IS NULL THEN r.above_cents"
            " ELSE r.next_above_cents END",
            currency="r.currency",
        ),
    ),
    Logged(
        "payout schedule",
        (
            "payout_schedule.created",
            "payout_schedule.changed",
            "payout_schedule.deleted",
            "payout_schedule.stopped",
        ),
        (*_SCHEDULE, *_DESTINATIONS),
        _of_columns("payouts_schedule c", "c.id", "''", **_SCHEDULE),
    ),
    Logged(
        "payout destination",
        (
            "payout_destination.added",
            "payout_destination.contact_told",
            "payout_destination.confirmed",
        ),
        tuple(_WAITS),
        _of_columns("payouts_destination d", "d.id", "''", **_WAITS),
    ),
    Logged(
        "payout list",
        ("payout_batch.released", "payout_batch.stopped"),
        ("usable_from",),
        _of_columns("payouts_payoutbatch b", "b.id", "''", usable_from="b.usable_from"),
    ),
    Logged(
        "payout approval",
        ("payout_approval.requested",),
        tuple(_ASKED),
        _of_columns("payouts_payoutapproval a", "a.id", "''", **_ASKED),
    ),
    Logged(
        "API key",
        ("api_key.created", "api_key.taken_over"),
        tuple(_CREDENTIAL),
        _of_columns("access_apikey c", "c.id", "''", **_CREDENTIAL),
    ),
    Logged(
        "agent credential",
        ("agent_credential.created", "agent_credential.taken_over"),
        tuple(_CREDENTIAL),
        _of_columns("access_agentcredential c", "c.id", "''", **_CREDENTIAL),
    ),
    Logged(
        "endpoint",
        ("webhook_endpoint.created", "webhook_endpoint.changed", "webhook_endpoint.secret_rotated"),
        tuple(_ENDPOINT),
        _of_columns("webhooks_endpoint e", "e.id", "''", **_ENDPOINT),
    ),
    Logged(
        "automatic swap",
        ("auto_swap.changed", "auto_swap.stopped"),
        ("target",),
        _of_columns(
            "swaps_autoswap w", "w.id", "''", target="coalesce(w.target_asset_id, 'nothing')"
        ),
    ),
    # A store's lines about a person; who has left has no role.
    Logged(
        "role of a member",
        ("member.joined", "member.role_changed", "store.ownership_handed_over"),
        ("role",),
        _of_columns("stores_member m", "m.user_id", "m.store_id::text", role="m.role"),
        part="coalesce(l.store_id::text, '')",
        may_be_gone=True,
        # Lines of earlier releases, which didn't say whose role became what.
        until="u.store_id = l.store_id AND (u.action = 'store.ownership_handed_over'"
        " AND NOT u.details ? 'role' OR u.action = 'staff.changed' AND NOT u.details ? 'typed')",
    ),
    Logged(
        "payment link",
        ("payment_link.created", "payment_link.changed"),
        tuple(_LINK),
        _of_columns("links_paymentlink k", "k.id", "''", **_LINK),
    ),
    Logged(
        "asset",
        ("asset.changed", "staff.changed"),
        (
            "contract_address",
            "is_active",
            "min_withdrawal_atomic",
            "sweep_minimum_atomic",
            "sweep_cost_bps",
            "sweep_after_days",
        ),
        _of_columns(
            "assets_asset t",
            "t.id",
            "''",
            contract_address="t.contract_address",
            is_active="t.is_active",
            min_withdrawal_atomic="t.min_withdrawal_atomic",
            sweep_minimum_atomic="t.sweep_minimum_atomic",
            sweep_cost_bps="t.sweep_cost_bps",
            sweep_after_days="t.sweep_after_days",
        ),
    ),
    # A line of any asset of a chain, or of the chain, says its confirmations.
    Logged(
        "chain",
        ("asset.changed", "chain.changed", "staff.changed"),
        ("required_confirmations", "finality_tag", "counts_confirmations", "tag_confirmations"),
        _of_columns(
            "assets_chain c",
            "c.id",
            "''",
            required_confirmations="c.required_confirmations",
            finality_tag="c.finality_tag",
            counts_confirmations="c.counts_confirmations",
            tag_confirmations="c.tag_confirmations",
        ),
        target="coalesce((SELECT t.chain_id FROM assets_asset t WHERE t.id = l.target_id),"
        " l.target_id)",
    ),
)

# Before lines of the staff site had values, what it changed can't be determined. Since then each
# says which it has (`typed`), also when that is none.
_WITHOUT_VALUES = """
SELECT FROM stores_auditentry u WHERE u.id > l.id AND (u.action = 'staff.changed'
    AND u.target_id = {target} AND u.details - 'changed' - 'message' = '{{}}' OR {until})
"""
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?(E[-+]?[0-9]+)?$"


def _plain(value: str) -> str:
    """Texts that mean the same are the same: 0.02 and 0.02000000."""
    return (
        f"CASE WHEN {value} ~ '{_NUMBER}' THEN trim_scale(({value})::numeric)::text"
        f" ELSE nullif(lower({value}), 'none') END"
    )


def _said(logged: Logged) -> str:
    """The newest line of each setting: a change has what was before and what is after."""
    destinations = ", ".join(f"'{name}'" for name in _DESTINATIONS)
    actions = ", ".join(f"'{action}'" for action in logged.actions)
    names = ", ".join(f"'{name}'" for name in logged.names)
    moments = ", ".join(f"'{name}'" for name in _MOMENTS)
    times = ", ".join(f"'{name}'" for name in _TIMES)
    later = _WITHOUT_VALUES.format(target=logged.target, until=logged.until)
    return f"""
SELECT DISTINCT ON (target, part, name) {logged.target} AS target, {logged.part} AS part,
    CASE WHEN d.key IN ({destinations}) THEN 'destination' ELSE d.key END AS name,
    CASE WHEN d.key IN ({moments}) THEN (nullif(lower(v.said), 'none') IS NOT NULL)::text
        WHEN d.key IN ({times}) THEN (nullif(lower(v.said), 'none')::timestamptz)::text
        ELSE v.said END AS value
FROM stores_auditentry l CROSS JOIN LATERAL jsonb_each(l.details) d
CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(d.value) WHEN 'array' THEN d.value ->> 1
    ELSE d.value #>> '{{}}' END AS said) v
WHERE l.action IN ({actions}) AND d.key IN ({names}) AND NOT EXISTS ({later})
ORDER BY target, part, name, l.id DESC
"""  # noqa: S608  # our own text


def _breaches(logged: Logged) -> str:
    join = "JOIN" if logged.may_be_gone else "LEFT JOIN"
    return f"""
SELECT '{logged.what.replace("'", "''")} ' || said.target, said.name || ' is '
    || coalesce(is_now.value, 'not set') || ', and the audit log says '
    || coalesce(said.value, 'not set')
FROM ({_said(logged)}) said {join} ({logged.now}) is_now USING (target, part, name)
WHERE {_plain("is_now.value")} IS DISTINCT FROM {_plain("said.value")}
"""  # noqa: S608  # our own text


_ACTIONS = sorted({action for logged in SETTINGS for action in logged.actions})
LOGGED = (
    Invariant(
        "settings_logged",
        "Every setting that decides about money is what the audit log last said of it",
        "SELECT count(*) FROM stores_auditentry WHERE action IN ("  # noqa: S608  # our own text
        + ", ".join(f"'{action}'" for action in _ACTIONS)
        + ")",
        " UNION ALL ".join(_breaches(logged) for logged in SETTINGS),
    ),
)
