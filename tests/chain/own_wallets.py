"""A merchant's own wallet in tests: a key whose addresses the test can spend from, and an asset
whose coins go there."""

from apps.audit.grants import WORKER
from apps.chain.keys import bip32
from apps.chain.models import WalletChoice
from apps.chain.own import choices
from apps.chain.own.choices import WalletRequest
from tests.cast import Shop
from tests.roles import acting_as

SEED = bytes(range(32))
PATH = "m/44'/60'/0'"


def account(seed: bytes = SEED) -> bip32.Private:
    return bip32.Private.of_seed(seed).derive(PATH)


def xpub(seed: bytes = SEED) -> str:
    return account(seed).public.text()


def start_told() -> None:
    """Run the workers' jobs for what was requested."""
    with acting_as(WORKER):
        choices.start_due()


def choose(
    shop: Shop,
    asset_id: str = "SETH",
    kind: str = "key",
    content: str = "",
    mode: str = "test",
) -> WalletChoice:
    """The asset's coins go to the wallet, as far as its waiting period lets them."""
    request = WalletRequest(asset_id, kind, content or (xpub() if kind == "key" else ""))
    choice = choices.ask_for_wallet(shop.owner_access(mode), request)
    start_told()
    choice.refresh_from_db()
    return choice
