"""One round of signing over the connected chains: the job of the signer's process and, outside
production, of the worker."""

from contextlib import closing
from functools import partial

import structlog
from django.conf import settings

from apps.assets.models import Chain
from apps.chain.keys.keystores import hot_key, seed
from apps.chain.keys.seeds import KeyFileRefused
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.coins import builder_of, carrier_of
from apps.chain.networks.families import has_coins
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import KeystoreError, Nodes, RpcError
from apps.chain.sending.coin_signer import CoinSigner, ensure_wallet
from apps.chain.sending.signer import ChainSigner
from apps.chain.sending.signing_lanes import ensure_wallets
from apps.chain.sending.sweep_signer import SweepSigner
from apps.chain.states import UNMINED
from apps.core import clock, jobs
from apps.core.rows import Job

log = structlog.get_logger(__name__)
JOB = Job("chain.sign", in_transaction=False, is_vital=True, raises=(KeyFileRefused,))


def sign_due(mode: str = "") -> int:
    """Sign what waits on each chain (of a mode), and wake the sender; how many were signed. Raises
    KeyFileRefused."""
    signed: list[int] = []
    waiting = OutgoingTransaction.objects.filter(status__in=UNMINED).values("chain")
    # Live first: the signer's process serves both.
    chains = Chain.objects.filter(pk__in=waiting).order_by("mode", "pk")
    JOB.walk(
        chains.filter(mode=mode) if mode else chains, lambda chain: signed.append(_sign(chain))
    )
    return sum(signed)


def _sign(chain: Chain) -> int:
    signed = 0
    if settings.CHAIN_URLS.get(chain.pk):
        with closing(nodes_of(chain)) as nodes:
            try:
                if has_coins(chain):
                    return _sign_coins(chain, nodes)
                signed += ChainSigner(chain, partial(hot_key, chain.mode), seed(), nodes).run(
                    clock.real_now()
                )
                signed += SweepSigner(chain, seed(), nodes).run(clock.real_now())
            except RpcError as error:
                log.warning("chain_not_asked", chain=chain.pk, error=str(error))
            except KeystoreError as error:
                log.error("keystore_failed", chain=chain.pk, error=str(error))
    if signed:
        jobs.nudge("chain.send", mode=chain.mode)
    return signed


def _sign_coins(chain: Chain, nodes: Nodes) -> int:
    signer = CoinSigner(chain, partial(hot_key, chain.mode), seed(), carrier_of(chain, nodes))
    signed = signer.run(clock.real_now())
    if signed:
        jobs.nudge("chain.send", mode=chain.mode)
    return signed


def introduce() -> dict[str, str]:
    """Make the hot wallets of each connected chain known; their keys to addresses.

    Raises KeyFileRefused, KeystoreError, and RpcError when no chain answers.
    """
    wallets = {}
    refused = None
    for chain in Chain.objects.order_by("pk"):
        if settings.CHAIN_URLS.get(chain.pk):
            if has_coins(chain):
                wallet = ensure_wallet(
                    chain, hot_key(chain.mode), builder_of(chain), clock.real_now()
                )
                wallets[wallet.pk] = wallet.address
                continue
            with closing(nodes_of(chain)) as nodes:
                try:
                    for wallet, _ in ensure_wallets(
                        chain, partial(hot_key, chain.mode), nodes, clock.real_now()
                    ):
                        wallets[wallet.pk] = wallet.address
                except RpcError as error:  # the others are introduced all the same
                    log.warning("chain_not_asked", chain=chain.pk, error=str(error))
                    refused = error
    if refused is not None and not wallets:
        raise refused
    return wallets
