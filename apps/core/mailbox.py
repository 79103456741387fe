"""A mailbox that is a folder: outside production mail is written there, one .eml file each, instead
of being sent."""

import email
import email.policy
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.header import decode_header, make_header
from email.message import EmailMessage as Parsed
from email.utils import parseaddr, parsedate_to_datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from apps.core.clock import real_now

SHOWN_MAX = 100


class Folder(BaseEmailBackend):
    """Django's mail backend for `EMAIL_FILE_PATH`."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        folder = Path(settings.EMAIL_FILE_PATH)
        folder.mkdir(parents=True, exist_ok=True)
        for message in email_messages:
            name = f"{real_now():%Y%m%dT%H%M%S%f}-{uuid.uuid4().hex[:8]}"
            draft = folder / f".{name}"
            draft.write_bytes(message.message().as_bytes())
            draft.rename(folder / f"{name}.eml")
        return len(email_messages)


@dataclass(frozen=True)
class StoredEmail:
    """A mail as the folder has it."""

    name: str
    sender: str
    sender_address: str
    to: str
    subject: str
    at: datetime
    text: str
    html: str


def stored_emails() -> list[StoredEmail]:
    """Sent emails, newest first."""
    paths = sorted(Path(settings.EMAIL_FILE_PATH).glob("*.eml"), reverse=True)[:SHOWN_MAX]
    return [_read(path) for path in paths]


def stored_email(name: str) -> StoredEmail | None:
    return next(
        (_read(path) for path in Path(settings.EMAIL_FILE_PATH).glob("*.eml") if path.stem == name),
        None,
    )


def _read(path: Path) -> StoredEmail:
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    # As it was written: the policy puts a space between the parts of a long encoded name.
    encoded_name, address = parseaddr(dict(message.raw_items())["From"])
    return StoredEmail(
        name=path.stem,
        sender=str(make_header(decode_header(encoded_name))),
        sender_address=address,
        to=str(message["To"]),
        subject=str(message["Subject"]).strip(),  # a long one begins on the next line
        at=parsedate_to_datetime(str(message["Date"])),
        text=_part(message, "plain"),
        html=_part(message, "html"),
    )


def _part(message: Parsed, kind: str) -> str:
    part: Any = message.get_body((kind,))
    return str(part.get_content()) if part is not None else ""
