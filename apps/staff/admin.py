"""Every page of a record: Django imports this with the routes, which registers them."""

from apps.staff import (
    agents as agents,
)
from apps.staff import (
    approvals as approvals,
)
from apps.staff import (
    audit_log as audit_log,
)
from apps.staff import (
    billing as billing,
)
from apps.staff import (
    cards as cards,
)
from apps.staff import (
    chains as chains,
)
from apps.staff import (
    deposits as deposits,
)
from apps.staff import (
    emails as emails,
)
from apps.staff import (
    keys as keys,
)
from apps.staff import (
    ledger as ledger,
)
from apps.staff import (
    links as links,
)
from apps.staff import (
    movements as movements,
)
from apps.staff import (
    payments as payments,
)
from apps.staff import (
    payouts as payouts,
)
from apps.staff import (
    platforms as platforms,
)
from apps.staff import (
    stores as stores,
)
from apps.staff import (
    swaps as swaps,
)
from apps.staff import (
    transfers as transfers,
)
from apps.staff import (
    wallets as wallets,
)
from apps.staff import (
    webhook_endpoints as webhook_endpoints,
)
