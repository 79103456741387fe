"""Invariants of the ledger itself: movements that balance, entries that fit their accounts, books
that close, and checkpoints that are true."""

from apps.core.invariant import Invariant, written_since

LEDGER = (
    Invariant(
        "movements_balance",
        "Every movement has entries, and they sum to zero per asset",
        "SELECT count(*) FROM ledger_movement",
        """
SELECT 'movement ' || movement_id, asset_id || ' is off by ' || sum(amount_atomic) FROM ledger_entry
GROUP BY movement_id, asset_id HAVING sum(amount_atomic) <> 0
UNION ALL SELECT 'movement ' || id, 'it has no entries' FROM ledger_movement m
WHERE NOT EXISTS (SELECT 1 FROM ledger_entry WHERE movement_id = m.id)
""",
        is_incremental=True,
    ),
    Invariant(
        "entries_fit",
        "Every entry has a movement and an account of its mode and asset, and no account is used"
        " outside its chain's mode",
        "SELECT count(*) FROM ledger_entry",
        """
SELECT 'entry ' || e.id, 'its account or movement is missing, or of another mode or asset'
FROM ledger_entry e LEFT JOIN ledger_account a ON a.id = e.account_id LEFT
    JOIN ledger_movement m ON m.id = e.movement_id
WHERE a.id IS NULL OR m.id IS NULL OR a.mode <> m.mode OR a.asset_id <> e.asset_id
UNION ALL
    SELECT 'account ' || a.id, a.mode || ' account of ' || a.asset_id || ', which is on a ' ||
    c.mode || ' chain'
FROM ledger_account a JOIN assets_asset s ON s.id = a.asset_id
    JOIN assets_chain c ON c.id = s.chain_id WHERE c.mode <> a.mode
UNION ALL SELECT 'account ' || a.id, 'simulated coins in live mode' FROM ledger_account a
WHERE a.mode = 'live' AND a.kind = 'custody_simulated'
    AND EXISTS (SELECT 1 FROM ledger_entry WHERE account_id = a.id)
""",
        is_incremental=True,
        # One entry of each account that changed: its mode and asset are those of all of them.
        narrowed={
            "ledger_entry": """
SELECT * FROM ledger_entry WHERE movement_id = ANY (%(movements)s::bigint[])
    OR id = ANY (%(newest_entries)s::bigint[])
""",
            "ledger_movement": "",
        },
    ),
    Invariant(
        "guarded_never_negative",
        "No guarded balance is below zero at any point of the history",
        "SELECT count(*) FROM ledger_account WHERE is_guarded",
        """
SELECT 'account ' || account_id, 'it stood at ' || min(balance) FROM (
    SELECT account_id, sum(amount) OVER (PARTITION BY account_id ORDER BY last_id) AS balance FROM (
        SELECT e.account_id, sum(e.amount_atomic) AS amount, max(e.id) AS last_id
        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id AND a.is_guarded
            GROUP BY e.account_id, e.movement_id
    ) steps
) history WHERE balance < 0 GROUP BY account_id
""",
        is_incremental=True,
        # What an account got since the point, after an entry that represents all before.
        narrowed={
            "ledger_entry": f"""
SELECT account_id, movement_id, id, amount_atomic FROM ledger_entry n
    WHERE movement_id = ANY (%(movements)s::bigint[])
    AND {written_since("n")}
UNION ALL SELECT account_id, 0, 0, ledger_balance(account_id) - sum(amount_atomic)
    FROM ledger_entry n WHERE movement_id = ANY (%(movements)s::bigint[])
    AND {written_since("n")} GROUP BY account_id
""",  # noqa: S608  # our own text
        },
    ),
    Invariant(
        "books_close",
        "All accounts of a mode and asset sum to zero",
        "SELECT count(*) FROM (SELECT DISTINCT mode, asset_id FROM ledger_account) books",
        """
SELECT mode || ' ' || asset_id, 'the accounts sum to ' || sum(ledger_balance(id))
    FROM ledger_account
GROUP BY mode, asset_id HAVING sum(ledger_balance(id)) <> 0
""",
    ),
    Invariant(
        "checkpoints_true",
        "Every balance equals the sum of its entries, recomputed from scratch",
        "SELECT count(*) FROM ledger_account",
        """
SELECT 'account ' || a.id, 'balance ' || ledger_balance(a.id) || ', entries ' ||
    coalesce(t.total, 0)
FROM ledger_account a LEFT JOIN (SELECT account_id, sum(amount_atomic) AS total FROM ledger_entry
    GROUP BY account_id) t
ON t.account_id = a.id WHERE ledger_balance(a.id) <> coalesce(t.total, 0)
""",
    ),
    Invariant(
        "balance_marks_true",
        "Every mark of an account's balance equals its entries up to the mark",
        "SELECT count(*) FROM ledger_balancemark",
        """
WITH summed AS (
    SELECT e.account_id, e.id, sum(e.amount_atomic) OVER (PARTITION BY e.account_id ORDER BY e.id)
        AS balance
    FROM ledger_entry e WHERE e.account_id IN (SELECT account_id FROM ledger_balancemark)
)
SELECT 'account ' || b.account_id, 'its balance after entry ' || b.entry_id || ' isn''t '
    || b.balance_atomic
FROM ledger_balancemark b
LEFT JOIN summed s ON s.account_id = b.account_id AND s.id = b.entry_id
WHERE s.balance IS DISTINCT FROM b.balance_atomic
""",
    ),
)
