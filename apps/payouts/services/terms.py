"""The settings of staff and the store about payouts of an asset, and earlier payouts: one
statement, for the form, its review and the payout itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.core.db.sql import Statement
from apps.core.models import Viewer
from apps.core.money import Fiat
from apps.payouts.models import PayoutSettings
from apps.payouts.services.caps import Cap
from apps.stores.models import Store

_TERMS = Statement(
    """
SELECT c.per_tx_atomic, c.daily_atomic,
       EXISTS (SELECT 1 FROM assets_acceptedasset a WHERE a.store_id = %(store_id)s
           AND a.mode = %(mode)s AND a.asset_id = %(asset_id)s
               AND a.suspended_at IS NOT NULL),
       (SELECT count(*) FROM payouts_payout p WHERE p.store_id = %(store_id)s AND p.mode = %(mode)s
        AND p.destination_address = %(address)s AND p.created_at > %(since)s
            AND (p.failed_gas_atomic > 0 OR p.failed_gas_due_atomic > 0)),
       CASE WHEN r.next_from <= %(at)s THEN r.next_above_cents ELSE r.above_cents
           END, coalesce(r.currency, ''),
       s.payout_network_fee, s.payout_review_threshold_cents, s.review_new_destinations
FROM (VALUES (1)) AS one LEFT JOIN payouts_storepayoutcap c ON c.store_id = %(store_id)s
    AND c.asset_id = %(asset_id)s
LEFT JOIN payouts_approvalrule r ON r.store_id = %(store_id)s AND r.mode = %(mode)s
LEFT JOIN payouts_payoutsettings s ON s.store_id = %(store_id)s
""",
    stays=True,
)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class PayoutTerms:
    """`failures` is how often sending to the address has failed within a day, `above` the worth
    from which on a second person approves."""

    cap: Cap
    is_stopped: bool
    failures: int
    above: Fiat | None
    settings: PayoutSettings


def terms_of(
    viewer: Viewer, store: Store, asset_id: str, at: datetime, address: str | None = None
) -> PayoutTerms:
    """Those of an asset, and of an address if one is known already."""
    ((per_tx, daily, is_stopped, failures, above_cents, currency, *columns),) = _TERMS.rows(
        store_id=store.pk,
        mode=viewer.mode,
        asset_id=asset_id,
        address=address,
        at=at,
        since=at - DAY,
    )
    return PayoutTerms(
        Cap(None if per_tx is None else int(per_tx), None if daily is None else int(daily)),
        is_stopped,
        failures,
        None if above_cents is None else Fiat(above_cents, currency),
        _settings(store, *columns),
    )


def _settings(
    store: Store, network_fee: str | None, threshold_cents: int | None, reviews_new: bool | None
) -> PayoutSettings:
    """The store's; without a row the defaults."""
    if network_fee is None or reviews_new is None:
        return PayoutSettings(store=store)
    return PayoutSettings(
        store=store,
        payout_network_fee=network_fee,
        payout_review_threshold_cents=threshold_cents,
        review_new_destinations=reviews_new,
    )
