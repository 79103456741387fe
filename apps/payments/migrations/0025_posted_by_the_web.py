"""The web posts deposits, settlements, refunds, returns and withdrawals, each by a function of its
movement. What a deposit brings is what the watcher has written of a block that stands; what a payment
settles is what came to its own addresses, at the fees that are locked in its row.
"""

from django.db import migrations

_OUT = "OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric"
_BOOK = "SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book"
_PRINCIPAL = "ARRAY['principal', 'principal']"


def _function(
    kind: str, name: str, arguments: str, declared: str, body: str, refusal: str, subject: str
) -> migrations.RunSQL:
    """`body` leaves FOUND false where the records don't bear the movement out."""
    types = ", ".join(argument.split()[1] for argument in arguments.split(", "))
    proof, _, booking = body.partition("--\n")
    return migrations.RunSQL(
        f"""
CREATE FUNCTION payments_post_{kind}({arguments}, p_at timestamp with time zone, {_OUT}) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
{declared}BEGIN
{proof}    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement {name}:% ({kind}): {refusal}', {subject} USING ERRCODE = '42501';
    END IF;
{booking}END $$;
""",
        f"DROP FUNCTION payments_post_{kind}({types}, timestamptz)",
    )


# Of the rows `d`, `payment`: in a block that stands, or simulated for a payment of test mode.
_IS_THERE = """(d.is_simulated AND payment.mode = 'test' OR NOT d.is_simulated AND NOT d.is_lost AND EXISTS (
            SELECT FROM chain_block b WHERE b.chain_id = d.chain_id AND b.number = d.block_number
                AND b.hash = d.block_hash AND b.is_canonical))"""
_PAYMENT = "    SELECT * INTO payment FROM payments_payment WHERE id = {} FOR NO KEY UPDATE;\n"
_DEPOSIT = _function(
    "deposit_confirmed",
    "deposit",
    "p_deposit uuid, p_payment uuid",
    "    payment payments_payment;\n    deposit chain_deposit;\n",
    _PAYMENT.format("p_payment")
    + f"""    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    JOIN payments_payment p ON p.id = w.payment_id AND p.store_id = payment.store_id AND p.mode = payment.mode
    WHERE d.id = p_deposit AND d.status = 'confirmed' AND {_IS_THERE} FOR NO KEY UPDATE OF d;
--
    {_BOOK}('deposit:' || p_deposit, 'deposit_confirmed', payment.mode, p_payment, p_at, deposit.asset_id,
        ARRAY[NULL, payment.store_id],
        ARRAY[CASE WHEN deposit.is_simulated THEN 'custody_simulated' ELSE 'custody_deposits' END, 'held'],
        ARRAY[-deposit.amount_atomic, deposit.amount_atomic], {_PRINCIPAL});
""",
    "no chain has brought this",
    "p_deposit",
)
_CHANGED = _function(
    "simulated_deposit_changed",
    "deposit",
    "p_deposit uuid, p_payment uuid",
    "    payment payments_payment;\n    deposit chain_deposit;\n    grown numeric;\n",
    _PAYMENT.format("p_payment")
    + f"""    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    WHERE d.id = p_deposit AND d.is_simulated AND w.payment_id = p_payment AND payment.mode = 'test' FOR NO KEY UPDATE OF d;
--
    SELECT deposit.amount_atomic - sum(e.amount_atomic) INTO grown
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id JOIN ledger_account a ON a.id = e.account_id
    WHERE m.reference = p_payment AND a.kind = 'held' AND m.kind IN ('deposit_confirmed', 'simulated_deposit_changed')
        AND split_part(m.key, ':', 2) = p_deposit::text;
    IF coalesce(grown, 0) = 0 THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (simulated_deposit_changed): it is booked as it is', p_deposit
            USING ERRCODE = '42501';
    END IF;
    {_BOOK}('deposit:' || p_deposit || ':' || gen_random_uuid(), 'simulated_deposit_changed', 'test', p_payment, p_at,
        deposit.asset_id, ARRAY[NULL, payment.store_id], ARRAY['custody_simulated', 'held'], ARRAY[-grown, grown], {_PRINCIPAL});
""",
    "nobody has simulated this",
    "p_deposit",
)


def _shares(key: str, kind: str) -> str:
    """The settlement of `gross`, each fee rounded down (apps.core.money.split)."""
    return f"""    service_fee := floor(gross * payment.fee_fraction);
    platform_fee := CASE WHEN payment.platform_id IS NULL THEN 0 ELSE floor(gross * coalesce(payment.platform_fee_fraction, 0)) END;
    IF least(service_fee, platform_fee, gross - service_fee - platform_fee) < 0 THEN
        RAISE EXCEPTION 'permission denied for movement of payment %: a share of it is below zero', payment.id USING ERRCODE = '42501';
    END IF;
    {_BOOK}({key}, '{kind}', payment.mode, payment.id, p_at, asset,
        ARRAY[payment.store_id, payment.store_id, NULL, payment.platform_id],
        ARRAY['held', 'available', 'service_fees', 'available'],
        ARRAY[-gross, gross - service_fee - platform_fee, service_fee, platform_fee],
        ARRAY['gross', 'net', 'service_fee', 'platform_fee']);
"""


_SHARES = """    payment payments_payment;
    gross numeric;
    service_fee numeric;
    platform_fee numeric;
"""
# What came to the payment's own addresses in the coin of each, and in time.
_ARRIVED = """FROM payments_paymentaddress w
    JOIN chain_deposit d ON d.address_id = w.address_id AND d.asset_id = w.asset_id AND d.status = 'confirmed'
    WHERE w.payment_id = p_payment AND payment.status = 'completed'
        AND NOT EXISTS (SELECT FROM payments_latedeposit l WHERE l.deposit_id = d.id AND l.payment_id = p_payment)"""
_SETTLED = _function(
    "payment_settled",
    "settle",
    "p_payment uuid, p_asset text",
    _SHARES + "    asset text := p_asset;\n",
    _PAYMENT.format("p_payment")
    + f"""    SELECT sum(d.amount_atomic) INTO gross {_ARRIVED} AND w.asset_id = p_asset HAVING sum(d.amount_atomic) > 0;
--
{_shares("'settle:' || p_payment || ':' || p_asset", "payment_settled")}""",
    "it has received nothing in this asset, or is not completed",
    "p_payment",
)
_OVERPAID = _function(
    "overpayment_settled",
    "settle",
    "p_payment uuid, p_deposit uuid",
    _SHARES + "    asset text;\n",
    _PAYMENT.format("p_payment")
    + f"""    SELECT d.amount_atomic, d.asset_id INTO gross, asset {_ARRIVED} AND d.id = p_deposit;
--
{_shares("'settle:' || p_payment || ':' || asset || ':' || p_deposit", "overpayment_settled")}""",
    "it has received no such deposit, or is not completed",
    "p_payment",
)
_LATE = _function(
    "late_deposit_accepted",
    "settle-late",
    "p_deposit uuid, p_payment uuid",
    _SHARES + "    asset text;\n",
    _PAYMENT.format("p_payment")
    + f"""    SELECT d.amount_atomic, d.asset_id INTO gross, asset FROM chain_deposit d
    JOIN ledger_movement m ON m.key = 'deposit:' || d.id AND m.reference = p_payment
    JOIN payments_latedeposit l ON l.deposit_id = d.id AND l.payment_id = p_payment
    WHERE d.id = p_deposit AND d.status = 'confirmed';
--
{_shares("'settle-late:' || p_deposit", "late_deposit_accepted")}""",
    "it is held for no such payment",
    "p_deposit",
)


def _set_aside(
    kind: str, table: str, name: str, source: str, condition: str, refusal: str
) -> migrations.RunSQL:
    """The part of a payment that goes back."""
    return _function(
        kind,
        "refund",
        f"p_{name} uuid",
        f"    going payments_{table};\n",
        f"""    SELECT r.* INTO going FROM payments_{table} r
    JOIN payments_payment p ON p.id = r.payment_id AND p.store_id = r.store_id AND p.mode = r.mode
    WHERE r.id = p_{name} AND r.status = 'pending' AND r.amount_atomic > 0{condition} FOR NO KEY UPDATE OF r;
--
    {_BOOK}('refund:' || p_{name}, '{kind}', going.mode, going.payment_id, p_at, going.asset_id,
        ARRAY[going.store_id, going.store_id], ARRAY[{source}, 'reserved'],
        ARRAY[-going.amount_atomic, going.amount_atomic], {_PRINCIPAL});
""",
        refusal,
        f"p_{name}",
    )


_REFUND = _set_aside(
    "refund_created",
    "refund",
    "refund",
    "CASE WHEN going.is_from_held THEN 'held' ELSE 'available' END",
    "",
    "no refund waits for it",
)
_RETURN = _set_aside(
    "transfer_return_created", "transferreturn", "return", "'held'", "", "no return waits for it"
)
_WITHDRAWAL = _function(
    "withdrawal_created",
    "withdrawal",
    "p_withdrawal uuid",
    "    going payments_withdrawal;\n",
    f"""    SELECT * INTO going FROM payments_withdrawal
    WHERE id = p_withdrawal AND status IN ('requested', 'approved') AND amount_atomic > 0 FOR NO KEY UPDATE;
--
    {_BOOK}('withdrawal:' || p_withdrawal, 'withdrawal_created', going.mode, p_withdrawal, p_at, going.asset_id,
        ARRAY[NULL, NULL]::uuid[], ARRAY['service_fees', 'withdrawal_clearing'],
        ARRAY[-going.amount_atomic, going.amount_atomic], {_PRINCIPAL});
""",
    "nobody has asked for this",
    "p_withdrawal",
)


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0024_suspended_stores"),
        ("ledger", "0008_a_function_a_movement"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        _DEPOSIT,
        _CHANGED,
        _SETTLED,
        _OVERPAID,
        _LATE,
        _REFUND,
        _RETURN,
        _WITHDRAWAL,
    ]
