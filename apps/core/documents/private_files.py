"""Files that only a signed link opens, for an hour: kept on this machine, where S3 would hand out
presigned links itself.

Anyone who stores something private uses `storages["private"]` and its `url`; which backend is
behind it is a setting.
"""

from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.core.signing import BadSignature, TimestampSigner

from apps.core.ids import behind_shard, signed_token

LINK_SECONDS = 3600
_signer = TimestampSigner(salt="apps.core.documents.private_files")


class PrivateFiles(FileSystemStorage):
    """A folder that no web server serves and no other user of this machine may read; `url` is a
    link that stops working after an hour."""

    def __init__(self, location: str | None = None) -> None:
        super().__init__(location, file_permissions_mode=0o600, directory_permissions_mode=0o700)

    def url(self, name: str | None) -> str:
        return f"{settings.PUBLIC_URL}/files/{behind_shard(_signer.sign_object(name))}"


def name_in(token: str) -> str | None:
    """The file that a link of ours opens; None when it is no link of ours, or older than an
    hour."""
    try:
        return str(_signer.unsign_object(signed_token(token), max_age=LINK_SECONDS))
    except (BadSignature, ValueError):
        return None
