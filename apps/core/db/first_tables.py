"""Many operations of an app's first migration as one: its tables are made from the state that all
of them lead to.

Django draws up every model anew after each operation, four hundred times for an empty database;
here it does so once.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

# Django makes one for each unique text and each key to one, for anyone who searches by the
# beginning of a key in another order than that of bytes: nobody does.
_INDEX_OF_BEGINNINGS = re.compile(r'CREATE INDEX "\w+_like" ')


class FirstTables(Operation):
    """Holds what makes models and what adds to the models made here, and nothing that touches
    rows. Models in `by_sql` are of the state alone: Django can't divide a table, so SQL of the
    migration makes theirs."""

    reduces_to_sql = True

    def __init__(self, operations: Sequence[Operation], by_sql: Sequence[str] = ()) -> None:
        self.operations = operations
        self.by_sql = by_sql

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        state.clear_delayed_apps_cache()
        state.__dict__.pop("apps", None)  # drawn up again when it is asked for
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in self._models(app_label, schema_editor, to_state):
            schema_editor.create_model(model)
        schema_editor.deferred_sql = [
            statement
            for statement in schema_editor.deferred_sql
            if not _INDEX_OF_BEGINNINGS.match(str(statement))
        ]

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in reversed(self._models(app_label, schema_editor, from_state)):
            schema_editor.delete_model(model)

    def describe(self) -> str:
        return "Create the tables of the app"

    def _models(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, state: ProjectState
    ) -> list[Any]:
        names = [
            item.name
            for item in self.operations
            if isinstance(item, CreateModel) and item.name not in self.by_sql
        ]
        models = [state.apps.get_model(app_label, name) for name in names]
        return [
            item
            for item in models
            if self.allow_migrate_model(schema_editor.connection.alias, item)
        ]
