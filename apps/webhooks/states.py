"""The moves of endpoints and deliveries. What happens on the way of an attempt is in the statements
of `delivery/queue.py`."""

from apps.core.machine import Machine, Step
from apps.webhooks.models import Delivery, Endpoint

_Endpoint = Endpoint.Status
_Delivery = Delivery.Status
# Who turned one on or off is in the audit log; an integration that is registered again is adopted
# as it is.
ENDPOINT = Machine[Endpoint, Step](
    {
        _Endpoint.ACTIVE: {_Endpoint.ACTIVE, _Endpoint.DISABLED, _Endpoint.ERROR},
        _Endpoint.DISABLED: {_Endpoint.ACTIVE},
        _Endpoint.ERROR: {_Endpoint.ACTIVE},
    },
    has_history=False,
)
DELIVERY = Machine[Delivery, Step](
    {
        _Delivery.PENDING: {_Delivery.PENDING, _Delivery.ATTEMPTING, _Delivery.IGNORED},
        _Delivery.ATTEMPTING: {
            _Delivery.PENDING,
            _Delivery.DELIVERED,
            _Delivery.FAILED,
            _Delivery.IGNORED,
        },
        _Delivery.DELIVERED: (),
        _Delivery.FAILED: {_Delivery.PENDING},
        _Delivery.IGNORED: {_Delivery.PENDING},
    },
    has_history=False,
)
