"""Callbacks of networks: signed for one credential, taken once, and believed only about sessions of
that credential's mode and network."""

import hashlib
from collections.abc import Mapping

from django.db import transaction

from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.messages.fields import is_uuid
from apps.onramp.models import Callback, Credential, FundingSession, SessionChange
from apps.onramp.providers.base import BadSignature, ProviderReport
from apps.onramp.services.networks import network_of
from apps.onramp.services.progress import apply_report

BODY_BYTES_MAX = 64 * 1024


class NotSigned(Failure):
    kind = RefusalKind.UNAUTHENTICATED
    code = "invalid_signature"
    message = "Signature is not valid"


def take_callback(credential_id: str, headers: Mapping[str, str], body: bytes) -> str:
    """Result of a callback (a Callback.Verdict). Raises NotFound for no such address, NotSigned for
    one that isn't the network's."""
    with tenancy.everyone("a network's callback names its credential"):
        credential = (
            Credential.objects.filter(pk=credential_id, is_active=True).first()
            if is_uuid(credential_id)
            else None
        )
    network = network_of(credential) if credential is not None else None
    if credential is None or network is None or network.adapter is None:
        raise NotFound
    if len(body) > BODY_BYTES_MAX:
        raise NotSigned
    try:
        report = network.adapter.read_callback(headers, body)
    except BadSignature:
        raise NotSigned from None
    with transaction.atomic():
        return _take(credential, report, hashlib.sha256(body).hexdigest())


def _take(credential: Credential, report: ProviderReport, digest: str) -> str:
    real = clock.real_now()
    row, is_new = Callback.objects.get_or_create(
        credential=credential,
        digest=digest,
        defaults={"status": report.status, "verdict": Callback.Verdict.UNKNOWN, "created_at": real},
    )
    if not is_new:
        return Callback.Verdict.NO_CHANGE
    with tenancy.everyone("a network's callback names a session"):
        session = _session(credential, report)
    if session is not None:
        tenancy.narrow(session.store, modes=[session.mode])
        row.session = session
        row.verdict = apply_report(
            session.pk,
            report,
            SessionChange.Source.CALLBACK,
            clock.now(session.store, session.mode),
        )
        row.save(update_fields=["session", "verdict"])
    return row.verdict


def _session(credential: Credential, report: ProviderReport) -> FundingSession | None:
    """By our id, which the network was given, else by its own; only where the credential is at
    home."""
    rows = (
        FundingSession.objects.filter(mode=credential.mode, provider=credential.provider)
        .exclude(url="")
        .select_related("store")
    )
    if credential.store_id is not None:
        rows = rows.filter(store_id=credential.store_id)
    if is_uuid(report.order_id):
        return rows.filter(pk=report.order_id).first()
    return (
        rows.filter(provider_txid=report.txid).first()
        if report.txid and not report.order_id
        else None
    )
