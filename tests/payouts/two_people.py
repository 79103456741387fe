"""A store of two people who may move money, in which payouts above 100 euros need both. A SETH is
1,800 euros."""

from copy import copy
from dataclasses import dataclass
from typing import Any

from apps.access.access import Access
from apps.access.models import ApiKey
from apps.access.services import authenticate, create_api_key
from apps.payouts.models import Payout, PayoutApproval
from apps.payouts.services.approval_rules import change_rule
from apps.stores.models import Role, User
from tests import make
from tests.cast import Api, Cast, join, person, signed_in

LITTLE, MUCH = 5 * 10**16, 10**17  # 90 and 180 euros
ABOVE_CENTS = 100_00


@dataclass
class Two:
    """Alice, who owns the store, and Adam, its admin; `key` is a key that Adam made long ago, so
    that it sends to any address."""

    cast: Cast
    adam: User
    mode: str = "test"

    def __post_init__(self) -> None:
        key, self.secret = create_api_key(self.cast.bakery.store, self.mode, by=self.as_adam())
        ApiKey.objects.filter(pk=key.pk).update(sends_anywhere_from=None)
        self.key = Api(self.secret)

    def again(self) -> "Two":
        """The two with rows of their own, for one of several tests that begin from them."""
        found = copy(self)
        found.cast = self.cast.again()
        found.adam = User.objects.get(pk=self.adam.pk)
        found.key = Api(self.secret)
        return found

    def as_alice(self) -> Access:
        return self.cast.bakery.owner_access(self.mode)

    def as_adam(self, role: str = Role.ADMIN) -> Access:
        return signed_in(self.adam, self.cast.bakery.store, self.mode, role)

    def key_access(self) -> Access:
        return authenticate(self.secret)


def two_people(cast: Cast, mode: str = "test", asset_id: str = "SETH") -> Two:
    make.store_coins(cast.bakery.store, asset_id, 10**19)
    adam = person("adam")
    store = cast.bakery.store
    join(store, adam, Role.ADMIN)
    two = Two(cast, adam, mode)
    change_rule(two.as_alice(), ABOVE_CENTS)
    return two


def held_of(payout_id: Any) -> PayoutApproval:
    """The approvals that a payout waits for, or has waited for."""
    found: PayoutApproval = PayoutApproval.objects.select_related("store").get(
        pk=Payout.objects.get(pk=payout_id).approval_id
    )
    return found
