"""The networks that a saved wallet may be on: all of the catalog, and one on which no asset is
yet."""

from enum import StrEnum


class WalletNetwork(StrEnum):
    """A network by the ID of its chain."""

    ETHEREUM = "ethereum"
    SEPOLIA = "sepolia"
    BASE = "base"
    ARBITRUM = "arbitrum"
    POLYGON = "polygon"
    BSC = "bsc"
    OPTIMISM = "optimism"
    AVALANCHE = "avalanche"
    TEMPO = "tempo"
    BITCOIN = "bitcoin"
    LITECOIN = "litecoin"
    BASE_SEPOLIA = "base_sepolia"
    ARBITRUM_SEPOLIA = "arbitrum_sepolia"
    OPTIMISM_SEPOLIA = "optimism_sepolia"
    POLYGON_AMOY = "polygon_amoy"
    AVALANCHE_FUJI = "avalanche_fuji"
    TEMPO_MODERATO = "tempo_moderato"
    BITCOIN_TESTNET = "bitcoin_testnet"
    LITECOIN_TESTNET = "litecoin_testnet"

    @property
    def full_name(self) -> str:
        """As its chain is called everywhere."""
        return _NAMES[self]

    @property
    def is_test(self) -> bool:
        return self in _OF_TEST_MODE

    @property
    def is_always_offered(self) -> bool:
        """True if a wallet may be saved there before the operator offers one of its coins."""
        return self in _ALWAYS_OFFERED


_NAMES = {
    WalletNetwork.ETHEREUM: "Ethereum",
    WalletNetwork.SEPOLIA: "Ethereum Sepolia",
    WalletNetwork.BASE: "Base",
    WalletNetwork.ARBITRUM: "Arbitrum One",
    WalletNetwork.POLYGON: "Polygon",
    WalletNetwork.BSC: "BNB Smart Chain",
    WalletNetwork.OPTIMISM: "OP Mainnet",
    WalletNetwork.AVALANCHE: "Avalanche",
    WalletNetwork.TEMPO: "Tempo",
    WalletNetwork.BITCOIN: "Bitcoin",
    WalletNetwork.LITECOIN: "Litecoin",
    WalletNetwork.BASE_SEPOLIA: "Base Sepolia",
    WalletNetwork.ARBITRUM_SEPOLIA: "Arbitrum Sepolia",
    WalletNetwork.OPTIMISM_SEPOLIA: "OP Sepolia",
    WalletNetwork.POLYGON_AMOY: "Polygon Amoy",
    WalletNetwork.AVALANCHE_FUJI: "Avalanche Fuji",
    WalletNetwork.TEMPO_MODERATO: "Tempo Moderato",
    WalletNetwork.BITCOIN_TESTNET: "Bitcoin Testnet",
    WalletNetwork.LITECOIN_TESTNET: "Litecoin Testnet",
}
_OF_TEST_MODE = frozenset(
    {
        WalletNetwork.SEPOLIA,
        WalletNetwork.BASE_SEPOLIA,
        WalletNetwork.ARBITRUM_SEPOLIA,
        WalletNetwork.OPTIMISM_SEPOLIA,
        WalletNetwork.POLYGON_AMOY,
        WalletNetwork.AVALANCHE_FUJI,
        WalletNetwork.TEMPO_MODERATO,
        WalletNetwork.BITCOIN_TESTNET,
        WalletNetwork.LITECOIN_TESTNET,
    }
)
_ALWAYS_OFFERED = frozenset(
    {
        WalletNetwork.ETHEREUM,
        WalletNetwork.SEPOLIA,
        WalletNetwork.BASE,
        WalletNetwork.ARBITRUM,
        WalletNetwork.POLYGON,
        WalletNetwork.BSC,
    }
)
