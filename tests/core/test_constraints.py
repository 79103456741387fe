"""A refusal that comes from a constraint of the database is known by its name: a row that breaks
another one is never reported as that."""

import ast

import pytest
from django.db import IntegrityError, connection, transaction

from apps.core.db.constraints import constraint_of, refused_by
from apps.stores.models import User
from apps.stores.services import EmailTaken, create_user
from tests.house.files import trees


@pytest.mark.django_db
def test_only_the_constraint_that_was_named_is_the_refusal() -> None:
    create_user("ann@example.com", "a-long-enough-password")
    with pytest.raises(EmailTaken):
        create_user("ann@example.com", "a-long-enough-password")
    roles_of_nobody = User(email="bea@example.com", staff_roles=["admin"])
    with pytest.raises(IntegrityError) as error, refused_by(User.EMAIL_ONCE, EmailTaken):
        roles_of_nobody.save()
    assert constraint_of(error.value) == "user_with_staff_roles_is_staff"
    assert [
        user.email for user in User.objects.filter(email__in=("ann@example.com", "bea@example.com"))
    ] == ["ann@example.com"]


@pytest.mark.django_db
def test_a_value_that_quotes_a_constraint_is_not_that_constraint() -> None:
    """PostgreSQL's sentence quotes the row: a name must not be looked for in it."""
    user = User(email="eve@example.com", name=User.EMAIL_ONCE, staff_roles=["admin"])
    with pytest.raises(IntegrityError) as error, transaction.atomic():
        user.save()
    assert User.EMAIL_ONCE in str(error.value)
    assert constraint_of(error.value) != User.EMAIL_ONCE


@pytest.mark.django_db
def test_every_constraint_that_is_named_is_one_of_the_database() -> None:
    named = {User.EMAIL_ONCE}
    for _, tree in trees(r"\brefused_by\(", "apps"):
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "refused_by"
            ):
                named |= {node.args[0].value} if isinstance(node.args[0], ast.Constant) else set()
    assert len(named) > 10
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'public'"
            " UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        )
        known = {name for (name,) in cursor.fetchall()}
    assert named <= known
