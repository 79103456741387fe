"""Keys of ours in tests, which real software can have as well."""

from coincurve import PrivateKey

from apps.chain.keys import bip32, bip39
from apps.chain.keys.secp256k1 import ORDER, SigningKey
from apps.chain.networks.base import Coin, CoinPlace, SignedSpend, SpendPlan
from apps.chain.networks.bitcoin.builder import BitcoinBuilder
from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST, Parameters

WORDS = " ".join(["abandon"] * 11 + ["about"])
ROOT = bip32.Private.of_seed(bip39.seed_of(WORDS))
# Of a test network, BIP-84.
PRIVATE = ROOT.derive("m/84'/1'/0'")
ACCOUNT = PRIVATE.public


class OurWallet:
    """Held keys: `change` gets what is left, the others were paid at. Each has keys of its own by
    its number."""

    def __init__(self, number: int, parameters: Parameters = LITECOIN_REGTEST) -> None:
        self.builder = BitcoinBuilder(parameters)
        self._branch = PRIVATE.child(1000 + number)
        self._secrets: dict[str, PrivateKey] = {}
        self.change = self.address(0)

    def address(self, index: int) -> str:
        key = self._branch.child(index).key
        address = self.builder.address_of(key.public_key.format())
        self._secrets[address] = key
        return address

    @property
    def public_keys(self) -> dict[str, bytes]:
        return {
            address: key.public_key.format(compressed=False)
            for address, key in self._secrets.items()
        }

    def signatures(self, plan: SpendPlan) -> list[tuple[int, int]]:
        """As a keystore makes them, with either s."""
        digests = self.builder.digests(plan, self.public_keys)
        signatures = []
        for number, (coin, digest) in enumerate(zip(plan.coins, digests, strict=True)):
            _, r, s = SigningKey(self._secrets[coin.address].secret).sign(digest)
            signatures.append((r, ORDER - s if number % 2 == 0 else s))
        return signatures

    def sign(self, plan: SpendPlan) -> SignedSpend:
        return self.builder.signed(plan, self.public_keys, self.signatures(plan))


def coin(address: str, amount_atomic: int, number: int = 1, *, is_confirmed: bool = True) -> Coin:
    """One that no chain has."""
    return Coin(CoinPlace(f"{number:064x}", number % 7), address, amount_atomic, is_confirmed)
