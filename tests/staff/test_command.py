"""The command `staff`: the first of the staff, roles by two, what waits; and who was staff before
there were roles."""

import pytest

from apps.audit import verify
from apps.stores.models import StaffRequest, User
from tests import make
from tests.console.test_commands import run


def test_the_first_admins_need_nobody_and_the_third_needs_two(
    db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        made = run(
            "staff", "set", f"{name}@example.com", "--password", "pw-0123456789", "--roles", "admin"
        )
        assert made == {"email": f"{name}@example.com", "roles": ["admin"]}
    third = (
        "staff",
        "set",
        "three@example.com",
        "--password",
        "pw-0123456789",
        "--roles",
        "finance",
        "--reason",
        "Joined us",
    )
    with pytest.raises(SystemExit):
        run(*third)
    assert "Give --staff" in capsys.readouterr().err
    assert not User.objects.filter(email="three@example.com").exists()
    assert run(*third, "--staff", "one@example.com")["state"] == "pending"
    [waiting] = run("staff")["waiting"]
    assert waiting["lines"] == [["Staff roles", "None", "Finance"]]
    with pytest.raises(SystemExit):
        run("staff", "approve", waiting["id"], "--staff", "one@example.com")
    assert (
        run("staff", "approve", waiting["id"], "--staff", "two@example.com")["state"] == "approved"
    )
    assert {"email": "three@example.com", "active": True, "roles": ["finance"]} in run("staff")[
        "staff"
    ]
    assert verify.findings() == []


def test_both_are_named_at_once_or_somebody_rejects(db: None) -> None:
    one = make.clerk("admin")
    two = make.clerk("admin")
    person = make.clerk("support")
    asked = (
        "staff",
        "set",
        person.email,
        "--roles",
        "support,finance",
        "--reason",
        "Moved",
        "--staff",
        one.email,
    )
    request = run(*asked)
    assert (
        run("staff", "reject", request["id"], "--staff", two.email, "--reason", "Not yet")["state"]
        == "rejected"
    )
    assert run(*asked, "--approved-by", two.email) == {
        "email": person.email,
        "roles": ["finance", "support"],
    }
    assert StaffRequest.objects.filter(state="approved").count() == 1
