"""The published secrets of the demo. Anyone can read them, so a production start refuses every one."""

DEMO_MNEMONIC = "drip child base camp valve pitch twist reduce sense envelope clarify mail"

PUBLISHED = {
    "SECRET_KEY": "demo-only-not-a-secret-0123456789-abcdefghijklmnopqrstuvwxyz",
    "ENCRYPTION_KEYS": "demo:OkF7kzzxml-KtgJWe-_TKyBepF4xMPfdtzbKSwYhZO0=",
    "DEPOSIT_XPUB_LIVE": "xpub6BskaxsNuqZUHDSsSgWt3FD5EEqQ2jXnreY7Cvq5zHhDg15cihaF7QPPZWghmui4aU2cKy6ZwWjm3SF2kQFLTGgtaQeCLfFD1j7Mc3tCshV",
    "DEPOSIT_XPUB_TEST": "xpub6BskaxsNuqZUJbPbCTNTFRWMwDsdHkqKzfKffGGJFZeE4w7ewC4RBocE5JTgaK8pSNpQBfHcpgJwU639f6jpyxvaJ1gaz9cYfZq8vJijbxc",
    "METRICS_TOKEN": "demo-metrics-token",
}
