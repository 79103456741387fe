"""The ways out: an SMTP server, a mail service's API, the folder of a demo. Each carries the whole
email; a refusal is final or waits."""

import email
import email.policy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from pytest_httpserver import HTTPServer

from apps.core import mail, mailbox
from apps.core.models import OutgoingMail
from dev.ports import free_port

VALUES = {
    "store": "Alice's Bäckerei",
    "mode": "test",
    "url": "https://shop.example/hook",
    "id": "x",
}


class Post:
    """Emails that arrived at an SMTP server; `refuses` is its answer to every recipient."""

    def __init__(self) -> None:
        self.emails: list[Any] = []
        self.refuses = ""

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if self.refuses:
            return self.refuses
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.emails.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
        return "250 OK"


@pytest.fixture
def smtp(settings: Any) -> Iterator[Post]:
    post = Post()
    controller = Controller(post, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT = controller.port
    yield post
    controller.stop()


@pytest.fixture
def service(settings: Any, httpserver: HTTPServer) -> HTTPServer:
    settings.EMAIL_BACKEND = "anymail.backends.postmark.EmailBackend"
    settings.ANYMAIL = {
        "POSTMARK_SERVER_TOKEN": "t0ken",
        "POSTMARK_API_URL": httpserver.url_for("/"),
    }
    return httpserver


@pytest.fixture
def queue(db: None) -> Callable[[], OutgoingMail]:
    def make() -> OutgoingMail:
        mail.send(key="k", to="a@example.com", template="webhook_endpoint_off", context=VALUES)
        mail.send_due()
        return OutgoingMail.objects.get()

    return make


def test_an_smtp_server_gets_text_and_html(smtp: Post, queue: Callable[[], OutgoingMail]) -> None:
    assert queue().status == "sent"
    (message,) = smtp.emails
    assert message["Subject"].strip() == "Webhook endpoint disabled: Alice's Bäckerei"
    assert (
        VALUES["url"] in message.get_body(("plain",)).get_content()
        and "<h1>" in message.get_body(("html",)).get_content()
    )
    assert message["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize(
    ("answer", "status"), [("550 no such user", "failed"), ("450 mailbox busy", "queued")]
)
def test_a_refused_recipient_is_final_or_waits(
    smtp: Post, queue: Callable[[], OutgoingMail], answer: str, status: str
) -> None:
    smtp.refuses = answer
    assert queue().status == status


def test_a_mail_service_gets_the_email_by_its_api(
    service: HTTPServer, queue: Callable[[], OutgoingMail]
) -> None:
    answer = {"To": "a@example.com", "MessageID": "1", "ErrorCode": 0, "Message": "OK"}
    service.expect_ordered_request(
        "/email", method="POST", headers={"X-Postmark-Server-Token": "t0ken"}
    ).respond_with_json(answer)
    assert queue().status == "sent"
    sent = json.loads(service.log[0][0].get_data())
    assert (
        sent["To"] == "a@example.com"
        and VALUES["url"] in sent["TextBody"]
        and "<h1>" in sent["HtmlBody"]
    )


@pytest.mark.parametrize(("code", "status"), [(500, "queued"), (401, "queued")])
def test_a_mail_service_that_fails_is_asked_again(
    service: HTTPServer, queue: Callable[[], OutgoingMail], code: int, status: str
) -> None:
    service.expect_request("/email").respond_with_json(
        {"ErrorCode": 10, "Message": "no"}, status=code
    )
    row = queue()
    assert (row.status, row.attempts) == (status, 1)


def test_a_folder_keeps_one_file_for_each_email(
    settings: Any, tmp_path: Any, queue: Callable[[], OutgoingMail]
) -> None:
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    assert queue().status == "sent"
    (message,) = mailbox.stored_emails()
    assert (message.to, message.subject) == (
        "a@example.com",
        "Webhook endpoint disabled: Alice's Bäckerei",
    )
    assert [path.suffix for path in tmp_path.iterdir()] == [".eml"]
