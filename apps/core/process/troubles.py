"""THE table of log events that mean trouble: each is counted, has an alert rule in
deploy/monitoring/alerts.yml and a line in docs/operators.md.

An event that is logged as a warning or an error and is missing here fails
tests/console/test_troubles.py, which says what to add.
"""

from collections.abc import MutableMapping
from typing import Any

from prometheus_client import Counter

# Somebody is woken; somebody looks in the morning at each; somebody looks when it lasts.
PAGE, ONCE, LASTING = "page", "once", "lasting"
TROUBLES = {
    "address_not_derived": PAGE,
    "addresses_not_looked_at": LASTING,
    "addresses_wait": LASTING,
    "announcements_lost": LASTING,
    "authorization_unavailable": LASTING,
    "auto_swap_refused": LASTING,
    "balance_unexplained": ONCE,
    "balances_unread": LASTING,
    "block_not_read_again": LASTING,
    "branch_too_deep": PAGE,
    "broadcast_refused": LASTING,
    "broadcast_refused_again": PAGE,
    "broker_unreachable": LASTING,
    "chain_not_asked": LASTING,
    "chain_reorganized": LASTING,
    "crosses_stale": LASTING,
    "crosses_unavailable": LASTING,
    "database_away": LASTING,
    "database_unavailable": LASTING,
    "deposit_found_again": ONCE,
    "deposit_lost": PAGE,
    "deposit_read_again": ONCE,
    "document_not_drawn": LASTING,
    "domain_check_failed": LASTING,
    "e_invoice_not_delivered": LASTING,
    "fallback_began": LASTING,
    "fallback_job_failed": LASTING,
    "fallback_waits": LASTING,
    "fallback_wakes": LASTING,
    "figures_unavailable": LASTING,
    "funding_not_polled": LASTING,
    "funding_report_refused": ONCE,
    "history_unread": LASTING,
    "hot_wallet_halted": PAGE,
    "hot_wallet_resumed": ONCE,
    "hot_wallet_without_gas": LASTING,
    "keystore_failed": PAGE,
    "leases_not_renewed": LASTING,
    "mail_dropped": ONCE,
    "mail_failed": LASTING,
    "mail_without_files": LASTING,
    "no_chain_configured": ONCE,
    "node_failed": LASTING,
    "node_lags": LASTING,
    "node_refused": LASTING,
    "nodes_disagree": PAGE,
    "not_broadcast_together": LASTING,
    "not_signed_together": LASTING,
    "notifications_lost": LASTING,
    "offramp_not_reached": LASTING,
    "outflow_above_alarm": PAGE,
    "outgoing_found": LASTING,
    "outgoing_needs_review": ONCE,
    "outgoing_not_approved": PAGE,
    "outgoing_not_estimated": LASTING,
    "outgoing_replaced": LASTING,
    "outgoing_undone": PAGE,
    "outgoing_waits": LASTING,
    "own_transfer_failed": ONCE,
    "partition_waits": LASTING,
    "payers_not_checked": LASTING,
    "payment_not_looked_at": LASTING,
    "payouts_not_advanced_together": LASTING,
    "quote_failed": LASTING,
    "quotes_late": LASTING,
    "quotes_not_kept": LASTING,
    "rate_in_doubt": ONCE,
    "rate_jumped": ONCE,
    "rate_limit_unavailable": LASTING,
    "rate_pair_untraded": LASTING,
    "rates_stale": LASTING,
    "rates_unavailable": LASTING,
    "receipt_denied_by_header": ONCE,
    "receipt_missing": LASTING,
    "receipt_without_what_it_brought": ONCE,
    "replica_not_asked": LASTING,
    "redrawing_not_closed_in": ONCE,
    "redrawing_took_too_long": LASTING,
    "report_claim_lost": LASTING,
    "report_failed": ONCE,
    "report_file_lost": ONCE,
    "report_not_made": LASTING,
    "report_rate_missing": LASTING,
    "report_storage_failed": LASTING,
    "request_log_refused": LASTING,
    "request_log_waits": LASTING,
    "row_failed": LASTING,
    "run_ended": LASTING,
    "sandbox_not_delivered": ONCE,
    "schedule_run_refused": LASTING,
    "schedule_waits_for_rate": LASTING,
    "second_node_silent": LASTING,
    "sighting_ended": LASTING,
    "spend_replaced": LASTING,
    "spend_stuck": LASTING,
    "status_unknown": LASTING,
    "sweep_replaced": LASTING,
    "tag_of_another_branch": LASTING,
    "transactions_untraced": LASTING,
    "unhandled_error": ONCE,
    "vat_check_unanswered": LASTING,
    "waiting_not_noted": LASTING,
    "watcher_restarts": LASTING,
    "watcher_waits": LASTING,
    "webhook_dispatcher_failed": LASTING,
}
_counted = Counter("tillgate_trouble", "Log events that mean trouble, by their name", ["event"])
# A series that begins with its first event shows no increase.
for _event in TROUBLES:
    _counted.labels(_event)


def count(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A processor of log lines: counts those of the table, and changes none."""
    event = line.get("event")
    if event in TROUBLES:
        _counted.labels(event).inc()
    return line
