"""Parameters of the family's networks: prefixes of addresses and of extended keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ScriptKind(StrEnum):
    """Kind of an output: a key behind its hash (BIP-44, 84), the same within a script's hash
    (BIP-49), or a key itself (BIP-86)."""

    PKH = "pkh"
    NESTED = "sh(wpkh)"
    WPKH = "wpkh"
    TR = "tr"


_NUMBER_DIGITS = 12


@dataclass(frozen=True)
class Parameters:
    """Of one network. `script_versions` are of addresses of scripts, the first as it is stored;
    `public_versions` say which outputs a wallet makes of an extended key that begins so, None where
    it doesn't say."""

    name: str
    bech32_prefix: str
    key_version: int
    script_versions: tuple[int, ...]
    public_versions: Mapping[bytes, ScriptKind | None]
    # Of the first block; its last six bytes are the network's number (`Chain.chain_id`).
    genesis_hash: str
    coin_type: int  # SLIP-44, in a path
    # In atomic units for 1000 virtual bytes: by which nodes say what is too little for an output;
    # what is paid where nobody knows what others pay; and the most that is ever paid.
    dust_rate: int
    usual_rate: int
    rate_ceiling: int
    target_blocks: int  # within which a payment should be mined
    private_prefix: str = ""  # of addresses with hidden amounts, to which nothing is paid
    low_rate: int = 3_000  # up to which fees are low

    @property
    def scheme(self) -> str:
        """Of payment links: the coin's, of test networks too."""
        return self.coin

    @property
    def coin(self) -> str:
        """Name of the coin in the accounts of its keys."""
        return self.name.split()[0].lower()

    @property
    def network_number(self) -> int:
        return int(self.genesis_hash[-_NUMBER_DIGITS:], 16)


def _versions(**versions: ScriptKind | None) -> dict[bytes, ScriptKind | None]:
    return {bytes.fromhex(version[1:]): kind for version, kind in versions.items()}


# Of Bitcoin, which wallets of other coins write as well: xpub, ypub, zpub.
_MAIN = _versions(v0488b21e=None, v049d7cb2=ScriptKind.NESTED, v04b24746=ScriptKind.WPKH)
# tpub, upub, vpub.
_TEST = _versions(v043587cf=None, v044a5262=ScriptKind.NESTED, v045f1cf6=ScriptKind.WPKH)
# Ltub, Mtub; ttub.
_LITECOIN = _versions(v019da462=None, v01b26ef6=ScriptKind.NESTED)
_LITECOIN_TEST = _versions(v0436f6e1=None)

BITCOIN = Parameters(
    "Bitcoin",
    "bc",
    0x00,
    (0x05,),
    _MAIN,
    "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
    0,
    3_000,
    10_000,
    300_000,
    3,
)
BITCOIN_TESTNET = Parameters(
    "Bitcoin testnet",
    "tb",
    0x6F,
    (0xC4,),
    _TEST,
    "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
    1,
    3_000,
    10_000,
    300_000,
    3,
)
BITCOIN_REGTEST = Parameters(
    "Bitcoin regtest",
    "bcrt",
    0x6F,
    (0xC4,),
    _TEST,
    "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206",
    1,
    3_000,
    10_000,
    300_000,
    3,
)
LITECOIN = Parameters(
    "Litecoin",
    "ltc",
    0x30,
    (0x32, 0x05),
    _MAIN | _LITECOIN,
    "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2",
    2,
    30_000,
    10_000,
    1_000_000,
    6,
    "ltcmweb",
    10_000,
)
LITECOIN_TESTNET = Parameters(
    "Litecoin testnet",
    "tltc",
    0x6F,
    (0x3A, 0xC4),
    _TEST | _LITECOIN_TEST,
    "4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0",
    1,
    30_000,
    10_000,
    1_000_000,
    6,
    "tmweb",
    10_000,
)
LITECOIN_REGTEST = Parameters(
    "Litecoin regtest",
    "rltc",
    0x6F,
    (0x3A, 0xC4),
    _TEST | _LITECOIN_TEST,
    "530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9",
    1,
    30_000,
    10_000,
    1_000_000,
    6,
    "tmweb",
    10_000,
)
NETWORKS = (
    BITCOIN,
    BITCOIN_TESTNET,
    BITCOIN_REGTEST,
    LITECOIN,
    LITECOIN_TESTNET,
    LITECOIN_REGTEST,
)
_BY_PREFIX = {each.bech32_prefix: each for each in NETWORKS}
_BY_NUMBER = {each.network_number: each for each in NETWORKS}


def parameters_of(network_number: int) -> Parameters:
    """Of the network with this `chain_id`."""
    return _BY_NUMBER[network_number]


def parameters_at(address: str) -> Parameters | None:
    """Of the network whose witness addresses begin like this one; None for any other text."""
    prefix, separator, _ = address.rpartition("1")
    return _BY_PREFIX.get(prefix) if separator else None


# xprv, yprv, zprv, tprv, uprv, vprv, Ltpv, Mtpv, ttpv.
PRIVATE_VERSIONS = frozenset(
    bytes.fromhex(version)
    for version in (
        [
            "0488ade4",
            "049d7878",
            "04b2430c",
            "04358394",
            "044a4e28",
            "045f18bc",
            "019d9cfe",
            "01b26792",
            "0436ef7d",
        ]
    )
)
