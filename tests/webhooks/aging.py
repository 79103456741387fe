"""Events and deliveries whose IDs tell that they are older: what is kept for how long goes by the
months of IDs (decision 430)."""

_OLDER = (
    "(lpad(to_hex(('x' || left(replace({0}::text, '-', ''), 12))::bit(48)::bigint"
    " - {1} * 86400000::bigint), 12, '0') || substr(replace({0}::text, '-', ''), 13))::uuid"
)
_COLUMNS = {
    "webhooks_event": ("id",),
    "webhooks_delivery": ("id", "event_id"),
    "webhooks_attempt": ("delivery_id",),
}


def older_ids(days: int) -> str:
    """The statements, for somebody whom no rule of the database holds."""
    return "; ".join(
        f"UPDATE {table} SET "
        + ", ".join(f"{column} = {_OLDER.format(column, days)}" for column in columns)
        for table, columns in _COLUMNS.items()
    )
