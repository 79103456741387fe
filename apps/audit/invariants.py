"""THE table of what must always hold, collected from the apps: each invariant is one query that
returns a row (what, why) for every breach.

`counted` says over how many things it was asked. Nothing here writes, and nothing here repairs.
"""

import json

from django.conf import settings

from apps.access.invariants import CREDENTIALS
from apps.agents.invariants.mandates import AGENTS
from apps.agents.invariants.x402 import X402
from apps.assets.invariants import ACCEPTED
from apps.audit import guards, touched
from apps.audit.guards import GUARDS
from apps.audit.logged import LOGGED
from apps.billing.invariants import BILLING
from apps.chain.invariants import CHAINS
from apps.core.db.sql import Arguments
from apps.ledger import movements
from apps.ledger.invariants.books import LEDGER
from apps.ledger.invariants.records import RECORDS
from apps.links.invariants import LINKS
from apps.onramp.invariants import CARDS
from apps.payments import states
from apps.payments.invariants.held import HELD
from apps.payments.invariants.held_refunds import HELD_REFUNDS
from apps.payments.invariants.marks import MARKS
from apps.payments.invariants.own import OWN
from apps.payments.invariants.payments import PAYMENTS
from apps.payments.invariants.prices import PRICES
from apps.payments.invariants.treasury import TREASURY
from apps.payments.units import WHOLE_UNIT_CURRENCIES
from apps.payouts import states as payout_states
from apps.payouts.invariants import PAYOUTS
from apps.reports.invariants import BOOKINGS
from apps.stores.invariants.fees import FEES
from apps.stores.invariants.merchants import MERCHANTS
from apps.stores.invariants.seals import AUDIT_LOG
from apps.stores.invariants.staff import STAFF
from apps.swaps.invariants import SWAPS
from apps.webhooks import catalogue
from apps.webhooks.invariants import ENDPOINTS, TOLD

# A deposit that confirmed and wasn't booked within this time was lost on the way.
BOOKED_WITHIN_SECONDS = 900


def parameters() -> Arguments:
    """Parameters shared by the queries, so that no query repeats them."""
    return {**product_parameters(), **guards.parameters(), **touched.WHOLE}


def product_parameters() -> Arguments:
    """The product's own tables and settings: all but what guards are compared with, for which the
    database is asked about each of its tables."""
    return {
        "settling": ["payment_settled", "overpayment_settled", "late_deposit_accepted"],
        "moves": json.dumps(
            [
                [origin, target]
                for origin, targets in states.MACHINE.moves.items()
                for target in targets
            ]
        ),
        "status_events": [states.CREATED_EVENT, states.CANCELED_EVENT, *states.EVENTS.values()],
        "canceled": states.CANCELED_EVENT,
        "subscribable": list(catalogue.open_to(False)),
        "stale_seconds": BOOKED_WITHIN_SECONDS,
        "held_for_review": list(payout_states.HELD),
        "asset_stopped": payout_states.ASSET_STOPPED,
        "webhook_kept_days": settings.WEBHOOK_KEPT_DAYS,
        "whole_unit_currencies": list(WHOLE_UNIT_CURRENCIES),
        "movement_kinds": [name for name in movements.__all__ if name.islower()],
    }


OF_BOOKS = (
    GUARDS
    + LEDGER
    + RECORDS
    + PAYMENTS
    + OWN
    + MARKS
    + HELD
    + HELD_REFUNDS
    + PRICES
    + CHAINS
    + TOLD
)
INVARIANTS = (
    OF_BOOKS
    + SWAPS
    + PAYOUTS
    + BILLING
    + LINKS
    + AGENTS
    + CARDS
    + X402
    + TREASURY
    + BOOKINGS
    + STAFF
    + MERCHANTS
    + AUDIT_LOG
    + LOGGED
    + CREDENTIALS
    + ACCEPTED
    + FEES
    + ENDPOINTS
)
