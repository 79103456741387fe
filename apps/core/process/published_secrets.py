"""The published secrets of the demo. Anyone can read them, so a production start refuses every
one."""

DEMO_MNEMONIC = "drip child base camp valve pitch twist reduce sense envelope clarify mail"

SIGNER_PASSPHRASE = "demo passphrase of the signer"

PUBLISHED = {
    "SECRET_KEY": "demo-only-not-a-secret-0123456789-abcdefghijklmnopqrstuvwxyz",
    "ENCRYPTION_KEYS": "demo:OkF7kzzxml-KtgJWe-_TKyBepF4xMPfdtzbKSwYhZO0=",
    "APPROVAL_KEYS": "demo:Y1ZQ2mS0l5oS8b1v0pYwVd3m1rQmS3x7b1C0l2Jt5mA=",
    "DEPOSIT_XPUB_LIVE": (
        "xpub6BskaxsNuqZUHDSsSgWt3FD5EEqQ2jXnreY7Cvq5zHhDg15cihaF7QPPZWghmui4aU2cKy6ZwWjm3SF2kQFLTGgtaQeCLfFD1j7Mc3tCshV"
    ),
    "DEPOSIT_XPUB_TEST": (
        "xpub6BskaxsNuqZUJbPbCTNTFRWMwDsdHkqKzfKffGGJFZeE4w7ewC4RBocE5JTgaK8pSNpQBfHcpgJwU639f6jpyxvaJ1gaz9cYfZq8vJijbxc"
    ),
    "METRICS_TOKEN": "demo-metrics-token",
}

# Of networks with coins, by the name of the variable.
COIN_XPUBS = {
    "DEPOSIT_XPUB_BITCOIN_LIVE": (
        "xpub6Bkqoda5qSTUmRLuJFh4JuJQnenxM5avmYKRf2p1s8SsitFySMQDgn47AmwTkrQPKecF8imwzKu438WieUvQzY5KxrkwETP4qGZF9Nqk8vy"
    ),
    "DEPOSIT_XPUB_BITCOIN_TEST": (
        "xpub6CvqDBdAo9ajCHKswut17wW584d35nh3cR5rMRk2JWtFA1FjR6acZmD44Z58KpAUux5MzgN2TUzzHm8ZDvt5QeFP45QjJfm62TbDvi3kVjN"
    ),
    "DEPOSIT_XPUB_LITECOIN_LIVE": (
        "xpub6DPGkWBkKjYExavvWDmjm7yQHZZMyrS3WUVzZAgRdYcjazsx6uvtFL7yvmTM7gLf2evwWrSQ3FdjXGHNvKySPywA7E3oqKsaCR7UU4RPdYM"
    ),
    "DEPOSIT_XPUB_LITECOIN_TEST": (
        "xpub6CvqDBdAo9ajCdctNqcjeNkouyLkC6gX3vi3eKK1sVyNLjPk28rBHEM95joTB43PpY6TuWYmiera5oth6LiGr3tZCaPh2Umjku1d4MhqQXC"
    ),
}

# The well-known keys that every local development chain funds: the demo's wallets and its customer.
CHAIN_KEYS = {
    "live": "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "test": "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
    "customer": "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
    "card_network": "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
}
