"""The demo's hot wallets: known to the service, and filled from the keys that every local chain
funds."""

import os

from apps.assets.models import Asset, Chain, TokenStandard
from apps.chain.sending import signing_rounds
from apps.core import clock, local_chain
from apps.core.process.published_secrets import CHAIN_KEYS
from apps.ledger import movements
from apps.ledger.chart import CUSTODY_HOT
from apps.payments.services.treasury import funding_key
from apps.stores.models import User
from dev.demo import litecoin, people
from dev.demo.chain import DemoWallet

COINS_WEI = 1000 * 10**18
TOKENS_ATOMIC = 1_000_000 * 10**6
# Other chains are not the demo's to fill.
URLS = {
    "ethereum": local_chain.ETHEREUM,
    "sepolia": local_chain.SEPOLIA,
}


def fill(contracts: dict[str, str]) -> list[str]:
    """Give each hot wallet coins, and the live one tokens, unless it has some, and book them; the
    networks that can send now."""
    wallets = signing_rounds.introduce()
    if litecoin.CHAIN in wallets:
        litecoin.fill(Chain.objects.get(pk=litecoin.CHAIN), wallets[litecoin.CHAIN])
    staff = User.objects.get(email=people.STAFF["email"])
    for chain in Chain.objects.filter(pk__in=wallets.keys() & URLS.keys()):
        url = os.environ[URLS[chain.pk]]
        wallet = DemoWallet(url, CHAIN_KEYS[chain.mode])
        hot = wallets[chain.pk]
        if int(local_chain.call(url, "eth_getBalance", hot, "latest"), 16) >= COINS_WEI // 2:
            continue
        native = Asset.objects.get(chain=chain, token_standard=TokenStandard.NATIVE)
        transfers = [(native.pk, COINS_WEI, wallet.send(hot, COINS_WEI))]
        for asset_id, contract in contracts.items() if chain.mode == "live" else ():
            transfers.append((asset_id, TOKENS_ATOMIC, wallet.mint(contract, hot, TOKENS_ATOMIC)))
        # So many that the books and the chain agree at the newest block that counts for good.
        local_chain.call(url, "anvil_mine", hex(chain.required_confirmations))
        for asset_id, amount_atomic, tx_hash in transfers:
            wallet.receipt(tx_hash)
            movements.correction(
                key=funding_key(tx_hash, asset_id),
                mode=chain.mode,
                asset_id=asset_id,
                kind=CUSTODY_HOT,
                store_id=None,
                amount_atomic=-amount_atomic,
                reason="The demo's own coins",
                staff_id=staff.pk,
                at=clock.real_now(),
            )
    return sorted(wallets)
