"""The queue of reports: one worker per report, a lease for those that die, three tries, and a
storage that fails or is S3."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
import requests
import time_machine
from moto.server import ThreadedMotoServer

from apps.core import clock
from apps.core.documents.private_files import PrivateFiles
from apps.reports import states
from apps.reports.models import Report
from apps.reports.services import generate
from apps.reports.services.generate import FAILED_WORDS, ClaimLost, generate_due
from apps.reports.services.request import available_through
from config import settings as project
from tests.cast import Cast, Shop
from tests.reports.reading import ENTRIES, STATEMENT, asked, made


def waiting(shop: Shop, **more: str) -> Report:
    access = shop.access()
    last = available_through(access.now())
    return asked(access, last, last, **more)


def fresh(report: Report) -> Report:
    return Report.objects.select_related("store").get(pk=report.pk)


def test_a_store_has_one_report_made_at_a_time_and_others_dont_wait_for_it(cast: Cast) -> None:
    first = waiting(cast.bakery)
    second = waiting(cast.bakery, kind=STATEMENT)
    other = waiting(cast.strangers)
    claimed = [generate._claim(clock.real_now()) for _ in range(3)]
    assert [item and item.pk for item in claimed] == [first.pk, other.pk, None]
    generate._generate(claimed[0])  # type: ignore[arg-type]  # it was claimed
    assert generate_due() == 1
    assert fresh(second).status == states.GENERATED


def test_a_claim_that_was_left_behind_is_taken_over_when_its_lease_is_over(bakery: Shop) -> None:
    report = waiting(bakery)
    generate._claim(clock.real_now())
    assert generate_due() == 0
    with time_machine.travel(clock.real_now() + generate.LEASE + timedelta(seconds=1)):
        assert generate_due() == 1
    assert (fresh(report).status, fresh(report).attempts) == (states.GENERATED, 2)


def test_who_lost_the_claim_neither_goes_on_nor_overwrites(bakery: Shop) -> None:
    report = waiting(bakery)
    slow = generate._claim(clock.real_now())
    assert slow is not None
    with time_machine.travel(clock.real_now() + generate.LEASE + timedelta(seconds=1)):
        generate_due()
    with pytest.raises(ClaimLost):
        generate._note_progress(slow, 1)
    made_first = fresh(report).file_name
    generate._generate(slow)
    assert fresh(report).file_name == made_first


def test_a_report_whose_workers_die_three_times_has_failed(bakery: Shop) -> None:
    report = waiting(bakery)
    for tries in range(1, 5):
        with time_machine.travel(
            clock.real_now() + tries * (generate.LEASE + timedelta(seconds=1))
        ):
            generate._claim(clock.real_now())
    assert (fresh(report).status, fresh(report).error) == (states.FAILED, FAILED_WORDS)


@pytest.fixture
def full_storage(settings: Any, tmp_path: Path) -> Path:
    """A storage that takes nothing: a file has the place of its folder."""
    folder = tmp_path / "private"
    folder.write_text("not a folder")
    options = {
        "BACKEND": "apps.core.documents.private_files.PrivateFiles",
        "OPTIONS": {"location": str(folder)},
    }
    settings.STORAGES = {**settings.STORAGES, "private": options}
    return folder


def test_a_storage_that_takes_nothing_fails_the_report_and_the_next_request_tries_again(
    bakery: Shop, full_storage: Path
) -> None:
    report = waiting(bakery)
    assert generate_due() == 3
    assert (fresh(report).status, fresh(report).error) == (states.FAILED, FAILED_WORDS)
    full_storage.unlink()
    assert waiting(bakery).status == states.PENDING
    generate_due()
    assert fresh(report).status == states.GENERATED


def test_the_figures_of_one_store_never_reach_another(cast: Cast) -> None:
    theirs = made(
        cast.strangers.access(), *[available_through(cast.strangers.access().now())] * 2, STATEMENT
    )
    assert theirs.count(b"\n") == 1


# --- links ---------------------------------------------------------------------------------------


def link_to(content: bytes, name: str = "reports/x/report.csv") -> str:
    from django.core.files.base import ContentFile
    from django.core.files.storage import storages

    storage = storages["private"]
    return str(
        storage.url(storage.save(name.replace("/x/", f"/{uuid.uuid4()}/"), ContentFile(content)))
    )


def opened(client: Any, url: str) -> Any:
    return client.get(url.removeprefix("http://localhost:8000"))


def test_a_link_opens_its_file_as_a_download_that_no_page_can_show(db: None, client: Any) -> None:
    answer = opened(client, link_to(b"a,b\r\n"))
    assert b"".join(answer.streaming_content) == b"a,b\r\n"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="report.csv"'
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_a_link_opens_for_an_hour(db: None, client: Any) -> None:
    url = link_to(b"x")
    now = clock.real_now()
    for seconds, status in ((3590, 200), (3602, 404)):
        with time_machine.travel(now + timedelta(seconds=seconds)):
            answer = opened(client, url)
            assert answer.status_code == status
            for file in (
                answer._resource_closers
            ):  # closing the answer would close the test's connection too
                file()


def test_a_link_that_was_changed_opens_nothing(db: None, client: Any) -> None:
    token = link_to(b"x").rpartition("/")[2]
    for wrong in (
        token[:-1],
        token + "A",
        token.replace(":", ".", 1),
        token.upper(),
        "..%2f..%2fetc%2fpasswd",
        "x",
        ":",
        "::",
        "%00",
        "é",
    ):
        assert client.get(f"/files/{wrong}").status_code == 404, wrong
    assert client.post(f"/files/{token}").status_code == 405


def test_a_name_that_leads_out_of_the_folder_is_never_opened(db: None, client: Any) -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "reports/../../../etc/passwd"):
        assert opened(client, PrivateFiles().url(name)).status_code in (400, 404)


# --- S3 ------------------------------------------------------------------------------------------


@pytest.fixture
def bucket(settings: Any, monkeypatch: Any) -> Iterator[str]:
    """A bucket, with the storage as the settings make it for one."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    keys = {"region_name": "us-east-1", "endpoint_url": url}
    boto3.client("s3", aws_access_key_id="a", aws_secret_access_key="b", **keys).create_bucket(
        Bucket="files"
    )
    monkeypatch.setattr(project, "S3_BUCKET", "files")
    monkeypatch.setattr(project, "S3_OPTIONS", {**keys, "access_key": "a", "secret_key": "b"})
    settings.STORAGES = {**settings.STORAGES, "private": project._storage("private", "unused")}
    yield url
    server.stop()


def test_with_a_bucket_the_link_leads_to_s3_for_an_hour(bakery: Shop, bucket: str) -> None:
    last = str(available_through(bakery.access().now()))
    path = f"/reports/{ENTRIES}?start_date={last}&end_date={last}&format=csv"
    assert bakery.test.get(path).status_code == 202
    generate_due()
    url = bakery.test.get(path).json()["url"]
    assert url.startswith(f"{bucket}/") and "Expires=3600" in url
    assert requests.get(url, timeout=60).content.decode("utf-8-sig").startswith("at,movement_id")
    listed = bakery.test.get("/reports").json()["reports"][0]
    assert requests.get(listed["url"], timeout=60).status_code == 200
