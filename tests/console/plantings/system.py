"""Changes of the chain's blocks, the audit log, guards, grants and policies.

Each with the invariant that must name it.
"""

from tests.console.plantings.rows import DEPOSIT, LINE, again

SYSTEM: dict[str, tuple[str, str]] = {
    "audit line changed": (
        f"UPDATE stores_auditentry SET actor_name = 'x' WHERE id = {LINE}",
        "audit_log_sealed",
    ),
    "audit line deleted": (f"DELETE FROM stores_auditentry WHERE id = {LINE}", "audit_log_sealed"),
    "audit line slipped in": (
        again(
            "stores_auditentry",
            f"id = {LINE}",
            id="(SELECT max(id) + 1 FROM stores_auditentry)",
            at="now() - interval '3 days'",
        ),
        "audit_log_sealed",
    ),
    "deposit's block number": (
        f"UPDATE chain_deposit SET block_number = block_number + 1 WHERE id = {DEPOSIT}",
        "deposits_in_blocks",
    ),
    "deposit's hash": (
        f"UPDATE chain_deposit SET tx_hash = '0x{'7' * 64}' WHERE id = {DEPOSIT}",
        "deposits_in_blocks",
    ),
    "head moved ahead by 50": ("UPDATE chain_head SET number = number + 50", "blocks_follow"),
    "block missing": ("DELETE FROM chain_block WHERE number = 105", "blocks_follow"),
    "triggers of the ledger disabled": (
        "ALTER TABLE ledger_entry DISABLE TRIGGER USER",
        "guards_stand",
    ),
    "zero-sum trigger dropped": ("DROP TRIGGER entry_checked ON ledger_entry", "guards_stand"),
    "web may change bookings": ("GRANT UPDATE ON ledger_entry TO tillgate_web", "grants_stand"),
    "everybody may look at sessions": ("GRANT SELECT ON django_session TO PUBLIC", "grants_stand"),
    "a worker may no longer book": (
        "REVOKE INSERT ON ledger_movement FROM tillgate_worker",
        "grants_stand",
    ),
    "the web is shown everybody's payments": (
        "ALTER TABLE payments_payment DISABLE ROW LEVEL SECURITY",
        "policies_stand",
    ),
    "a policy says something else": (
        "ALTER POLICY rows_in_scope ON billing_customer USING (true)",
        "policies_stand",
    ),
    "there is one policy more": (
        "CREATE POLICY mine ON payouts_payout TO tillgate_web USING (true)",
        "policies_stand",
    ),
    "block's parent changed": (
        f"UPDATE chain_block SET parent_hash = '0x{'7' * 64}' WHERE number = 105",
        "blocks_follow",
    ),
    "head behind": ("UPDATE chain_head SET number = number - 5", "blocks_follow"),
    "deposit's block hash": (
        f"UPDATE chain_deposit SET block_hash = '0x{'7' * 64}' WHERE id = {DEPOSIT}",
        "deposits_in_blocks",
    ),
}
