"""Two members of staff take the second factor off the account of somebody who has lost
everything."""

import pytest

from apps.access.factors import second_factor
from apps.core.models import OutgoingMail
from apps.stores.models import AuditEntry
from tests import make
from tests.cast import PASSWORD, Cast
from tests.console.test_commands import run
from tests.dashboard.browse import Browser


def test_the_password_alone_signs_in_again_and_the_person_is_told(cast: Cast) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    inside = Browser(cast.alice)
    first = make.clerk("admin")
    second = make.clerk("admin")
    by_two = (
        "--staff",
        first.email,
        "--approved-by",
        second.email,
        "--reason",
        "Showed her passport",
    )
    assert run("remove_second_factor", cast.alice.email.upper(), *by_two) == {
        "email": cast.alice.email,
        "second_factor": None,
    }
    assert inside.get().status_code == 302
    assert (
        Browser().post("sign-in", email=cast.alice.email, password=PASSWORD).headers["Location"]
        == "/dashboard/"
    )
    assert OutgoingMail.objects.exclude(template="staff_request").get().to == cast.alice.email
    assert {
        outgoing_mail.to for outgoing_mail in OutgoingMail.objects.filter(template="staff_request")
    } == {
        first.email,
        second.email,
    }
    assert AuditEntry.objects.filter(
        action="second_factor.removed", target_id=str(cast.alice.pk)
    ).exists()


@pytest.mark.parametrize("who", ["nobody", "charlie"])
def test_there_must_be_somebody_with_a_second_factor(cast: Cast, who: str) -> None:
    email = cast.charlie.email if who == "charlie" else "nobody@example.com"
    staff = make.clerk("admin").email
    with pytest.raises(SystemExit):
        run("remove_second_factor", email, "--staff", staff, "--reason", "Called us")


def test_one_member_of_staff_only_asks_for_it(cast: Cast) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    asked = run(
        "remove_second_factor",
        cast.alice.email,
        "--staff",
        make.clerk("admin").email,
        "--reason",
        "Called us",
    )
    assert asked["state"] == "pending" and second_factor.confirmed(cast.alice) is not None
