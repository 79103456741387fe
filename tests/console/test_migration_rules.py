"""Rules for a migration that runs while the previous release serves: each rule refuses one that
would stop it, and passes one that stops nothing."""

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from dev import migration_rules

pytestmark = pytest.mark.django_db
LOCK_TIMEOUT = migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop)
SHORT_WORD = models.Index(fields=["template"], name="rules_test")
NOT_EMPTY = models.CheckConstraint(condition=~models.Q(template=""), name="rules_test")
UNIQUE = models.UniqueConstraint(fields=["template"], name="rules_test")


@pytest.fixture(scope="module")
def newest() -> ProjectState:
    """The models as the newest migrations have them, made once: a copy takes them along."""
    state = MigrationLoader(None).project_state()
    assert state.apps.get_model("core", "outgoingmail")
    return state


def rules(
    state: ProjectState,
    *operations: Operation,
    atomic: bool = True,
    unused_since: str = "",
    app: str = "core",
) -> set[str]:
    """The names of the rules that refuse a migration with these operations."""
    attributes = {"operations": list(operations), "atomic": atomic, "unused_since": unused_since}
    migration = type("Migration", (migrations.Migration,), attributes)("9999_test", app)
    return {finding.rule for finding in migration_rules.refused_of(migration, state)}


def raw(sql: str) -> Operation:
    return migrations.RunSQL(sql, migrations.RunSQL.noop)


def with_field(field: models.Field, name: str = "note") -> Operation:  # type: ignore[type-arg]
    return migrations.AddField("outgoingmail", name, field)


@pytest.mark.parametrize(
    ("operation", "rule"),
    [
        (migrations.AddIndex("outgoingmail", SHORT_WORD), "require-concurrent-index-creation"),
        (migrations.AddConstraint("outgoingmail", NOT_EMPTY), "constraint-missing-not-valid"),
        (migrations.AddConstraint("outgoingmail", UNIQUE), "disallowed-unique-constraint"),
        (migrations.RemoveField("outgoingmail", "template"), "ban-drop-column"),
        (migrations.RenameField("outgoingmail", "template", "code"), "renaming-column"),
        (migrations.DeleteModel("rowturn"), "ban-drop-table"),
        (migrations.AlterModelTable("outgoingmail", "letter"), "renaming-table"),
        (
            migrations.AlterField("outgoingmail", "template", models.CharField(max_length=2)),
            "changing-column-type",
        ),
        (with_field(models.CharField(max_length=9, default="")), "ban-drop-default"),
        (
            raw('ALTER TABLE payments_payment ADD COLUMN "note" text NOT NULL'),
            "adding-required-field",
        ),
        (
            raw('ALTER TABLE payments_payment ALTER COLUMN "reference" SET NOT NULL'),
            "adding-not-nullable-field",
        ),
        (raw('DROP INDEX "payment_unswapped"'), "require-concurrent-index-deletion"),
        (raw('ALTER TABLE chain_hotwallet DROP COLUMN "short_since"'), "ban-drop-column"),
        (
            raw("CREATE INDEX rules_test ON chain_hotwallet (short_since)"),
            "require-concurrent-index-creation",
        ),
        (
            raw("CREATE INDEX CONCURRENTLY rules_test ON payments_payment (reference)"),
            "ban-concurrent-index-creation-in-transaction",
        ),
        (
            raw(
                "ALTER TABLE payments_payment ADD CONSTRAINT rules_test FOREIGN KEY (store_id)"
                " REFERENCES stores_store (id)"
            ),
            "adding-foreign-key-constraint",
        ),
        (
            raw(
                "ALTER TABLE payments_payment ADD CONSTRAINT rules_test CHECK (true) NOT VALID;"
                "ALTER TABLE payments_payment VALIDATE CONSTRAINT rules_test"
            ),
            "constraint-missing-not-valid",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_stop_the_service_is_refused(
    newest: ProjectState, operation: Operation, rule: str
) -> None:
    assert rule in rules(newest, LOCK_TIMEOUT, operation)


def test_a_migration_that_may_wait_for_a_lock_says_for_how_long(newest: ProjectState) -> None:
    operation = with_field(models.CharField(max_length=9, null=True))
    assert rules(newest, operation) == {"require-lock-timeout"}
    assert rules(newest, LOCK_TIMEOUT, operation) == set()


@pytest.mark.parametrize(
    "operation",
    [
        with_field(models.CharField(max_length=9, default="", db_default="")),
        with_field(
            models.ForeignKey(
                "stores.Store",
                null=True,
                on_delete=models.PROTECT,
                db_index=False,
                related_name="+",
            ),
            "other_store",
        ),
        migrations.AlterField("outgoingmail", "status", models.CharField(max_length=255)),
        raw("ALTER TABLE payments_payment ADD CONSTRAINT rules_test CHECK (true) NOT VALID"),
        raw("ALTER TABLE payments_payment VALIDATE CONSTRAINT rules_test"),
        raw("ALTER TABLE payments_payment DROP CONSTRAINT rules_test"),
        raw("ALTER TABLE chain_hotwallet ADD CONSTRAINT rules_test UNIQUE (short_since)"),
        raw("DROP INDEX IF EXISTS chain_hotwallet_rules_test"),
        migrations.CreateModel(
            "note",
            [
                ("id", models.UUIDField(primary_key=True)),
                ("text", models.CharField(max_length=9, unique=True)),
                (
                    "store",
                    models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+"),
                ),
            ],
            options={"indexes": [models.Index(fields=["text"], name="rules_test")]},
        ),
    ],
)
def test_what_stops_nothing_passes(newest: ProjectState, operation: Operation) -> None:
    assert rules(newest, LOCK_TIMEOUT, operation) == set()


def test_only_indexes_are_built_without_a_transaction(newest: ProjectState) -> None:
    index = raw("CREATE INDEX CONCURRENTLY rules_test ON payments_payment (reference)")
    assert rules(newest, index, atomic=False) == set()
    column = raw('ALTER TABLE payments_payment ADD COLUMN "note" text')
    assert "not-atomic" in rules(newest, column, atomic=False)


def test_a_release_that_is_out_may_have_stopped_using_a_column(newest: ProjectState) -> None:
    operation = migrations.RemoveField("outgoingmail", "template")
    released = sorted(migration_rules.releases())[0]
    assert rules(newest, LOCK_TIMEOUT, operation, unused_since=released) == set()
    assert rules(newest, LOCK_TIMEOUT, operation, unused_since="99.0.0") == {"unused-since"}
    # What blocks others does so whatever release it is.
    index = migrations.AddIndex("outgoingmail", SHORT_WORD)
    assert rules(newest, LOCK_TIMEOUT, index, unused_since=released) == {
        "require-concurrent-index-creation"
    }


def test_a_finding_says_what_to_do_instead(newest: ProjectState) -> None:
    operations = [LOCK_TIMEOUT, migrations.RemoveField("outgoingmail", "template")]
    attributes = {"operations": operations}
    migration = type("Migration", (migrations.Migration,), attributes)("9999_test", "core")
    (finding,) = migration_rules.refused_of(migration, newest)
    assert str(finding).startswith("core 9999_test: ban-drop-column: ")
    assert 'DROP COLUMN "template"' in str(finding)
    assert str(finding).endswith("instead: stop using it in one release, drop it in the next")
