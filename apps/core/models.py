"""Base models of tenants' rows: an ID, a store, a mode and a time of birth. `visible_to` is the way
to reach it."""

import uuid
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from django import forms
from django.db import models

from apps.core.ids import IdField

if TYPE_CHECKING:
    IntegerColumn = models.Field[int, int]
    OptionalIntegerColumn = models.Field[int | None, int | None]
else:
    IntegerColumn = OptionalIntegerColumn = models.Field


Row = TypeVar("Row", bound=models.Model)
# Of an address as it is stored, in whatever family of networks.
ADDRESS_LENGTH = 128


class _Numeric:
    """numeric(78,0) in PostgreSQL, int in Python."""

    def db_type(self, connection: Any) -> str:
        return "numeric(78,0)"

    def get_internal_type(self) -> str:
        return "DecimalField"

    def from_db_value(self, value: Any, *_: Any) -> int | None:
        return None if value is None else int(value)

    def to_python(self, value: Any) -> int | None:
        return None if value is None else int(value)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return None if value is None else int(value)

    def formfield(self, **options: Any) -> Any:
        return super().formfield(**{"form_class": forms.IntegerField, "min_value": 0, **options})  # type: ignore[misc]  # of a column


class AtomicField(_Numeric, IntegerColumn):
    """Atomic units."""


class OptionalAtomicField(_Numeric, OptionalIntegerColumn):
    """Atomic units, or null."""


class Mode(models.TextChoices):
    LIVE = "live"
    TEST = "test"


class Viewer(Protocol):
    """A reader of rows: an Access, seen from below."""

    @property
    def store_id(self) -> uuid.UUID: ...

    @property
    def mode(self) -> str: ...


class WithoutSecrets(models.QuerySet[Any]):
    """Reads every column but the model's `SECRETS`: web writes them and may not read them. Who may
    names one to have it."""

    def __init__(
        self, model: type[models.Model] | None = None, query: Any = None, **options: Any
    ) -> None:
        super().__init__(model, query, **options)
        if query is None and model is not None:
            self.query.add_deferred_loading(getattr(model, "SECRETS", ()))


class OwnedQuerySet(WithoutSecrets):
    def visible_to(self, viewer: Viewer) -> Self:
        """The rows of the viewer's store in the viewer's mode, and nothing else."""
        return self.filter(store_id=viewer.store_id, mode=viewer.mode)


class Owned(models.Model):
    """A row that belongs to one store in one mode."""

    id = IdField()
    # What belongs to a store is listed by it: an index of the model's own begins with it
    # .
    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4, choices=Mode.choices)
    created_at = models.DateTimeField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def is_live(self) -> bool:
        return self.mode == Mode.LIVE


class RowWithFormKey(Owned):
    """A row that a page's form may have made. The form's own key makes it once, however often the
    form is sent."""

    form_key = models.CharField(max_length=32, null=True, editable=False)

    class Meta:
        abstract = True


def once_per_form(name: str) -> models.UniqueConstraint:
    """The rule of a RowWithFormKey, which each model has under a name of its own."""
    fields = ["store", "mode", "form_key"]
    return models.UniqueConstraint(
        fields=fields, condition=models.Q(form_key__isnull=False), name=f"{name}_once_per_form"
    )


class OutgoingMail(models.Model):
    """An email to one person. `next_attempt_at` is when it is due, and while a worker has it, when
    another may take it."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        SENT = "sent"
        FAILED = "failed"
        DROPPED = "dropped"  # the person had enough of them that day, or the store sent too many
        SHOWN = "shown"  # of test mode, to somebody else: in the dashboard instead

    class Lane(models.IntegerChoices):
        """In which order emails that are due leave."""

        ACCOUNT = 0
        BULK = 1

    id = IdField()
    key = models.CharField(max_length=200, unique=True)
    to = models.EmailField(max_length=254)
    # emails.mailbox.
    mailbox = models.CharField(max_length=400, default="", db_default="", editable=False)
    in_name_of = models.UUIDField(null=True, editable=False)  # the store
    template = models.CharField(max_length=100)
    lane = models.SmallIntegerField(default=Lane.ACCOUNT, db_default=0, editable=False)
    sender_name = models.CharField(max_length=200)
    reply_to = models.CharField(max_length=254, blank=True)
    sealed_letter = models.TextField(blank=True)
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()
    next_attempt_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)

    SECRETS = ("sealed_letter",)
    objects = WithoutSecrets.as_manager()

    class Meta:
        base_manager_name = "objects"
        indexes = [
            models.Index(
                fields=["lane", "next_attempt_at"],
                condition=models.Q(status="queued"),
                name="outgoing_mail_in_turn",
            ),
            models.Index(
                fields=["in_name_of", "created_at"],
                condition=models.Q(in_name_of__isnull=False),
                name="outgoing_mail_of_store",
            ),
            models.Index(fields=["mailbox", "created_at"], name="outgoing_mail_of_mailbox"),
            models.Index(
                fields=["created_at"],
                condition=models.Q(status="failed"),
                name="outgoing_mail_failed",
            ),
        ]

    @staticmethod
    def place_of(id: uuid.UUID) -> str:
        return f"core_outgoingmail:{id}:sealed_letter"

    @property
    def place(self) -> str:
        return self.place_of(self.pk)


class Drawing(models.Model):
    """A PDF file by what its page says; `html` and `inside` are kept until it is drawn. Times are
    the machine's.

    `owner` is whose turn it takes (a store), and an awaited one has a reader who waits for it.
    """

    digest = models.CharField(max_length=64, primary_key=True, db_collation="C")
    owner = models.CharField(max_length=40, default="", db_default="", db_collation="C")
    is_awaited = models.BooleanField(default=True, db_default=True)
    html = models.TextField(blank=True)
    inside = models.JSONField(null=True)
    asked_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    drawn_at = models.DateTimeField(null=True)
    file_name = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["is_awaited", "owner", "asked_at"],
                condition=models.Q(drawn_at=None),
                name="drawing_in_turn",
            ),
            models.Index(fields=["drawn_at"], name="drawing_age"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(drawn_at=None) | ~models.Q(file_name=""),
                name="drawing_drawn_has_a_file",
            ),
        ]

    def __str__(self) -> str:
        return self.digest


class RowFailure(models.Model):
    """A row that a job could not move: left alone until `not_before`, and from `dead_at` on until
    staff have it tried again."""

    job = models.CharField(max_length=60)
    row_id = models.CharField(max_length=64, db_collation="C")
    tries = models.PositiveIntegerField()
    error = models.CharField(max_length=300)
    since = models.DateTimeField()
    not_before = models.DateTimeField()
    dead_at = models.DateTimeField(null=True)
    # Staff leave it given up.
    set_aside_reason = models.CharField(max_length=500, blank=True, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "row_id"], name="row_failure_once")]

    def __str__(self) -> str:
        return f"{self.job} {self.row_id}"


class RowTurn(models.Model):
    """A job's memory between runs: the row at which the last one stopped when there were more than
    it took, its read position (core.marks), the minimum that it used."""

    job = models.CharField(max_length=60, primary_key=True)
    row_id = models.CharField(max_length=64, db_collation="C")


class Lease(models.Model):
    """A turn that a process has until then, by the database's clock: see apps.core.db.locks."""

    turn = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=100, db_collation="C")
    holder = models.UUIDField(db_index=True)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["turn", "key"], name="lease_once")]


class Heartbeat(models.Model):
    """Last sign of life of a part of the background work: apps.core.process.heartbeats."""

    part = models.CharField(max_length=40, primary_key=True)
    at = models.DateTimeField()


def new(model: type[Row], **values: object) -> Row:
    """Equals `model(**values)`, by place as Django makes rows that it has read: by name takes it
    twice as long. A related row is named by its column; whoever has it sets it afterward."""
    constant, made = _defaults(model)
    columns: dict[str, object] = {**constant, **values}
    if len(columns) > len(constant):
        unknown = sorted(columns.keys() - constant.keys())
        raise TypeError(f"{model.__name__} has no {', '.join(unknown)}")
    for name, make in made:
        if name not in values:
            columns[name] = make()
    return model(*columns.values())


@cache
def _defaults(
    model: type[models.Model],
) -> tuple[Mapping[str, object], list[tuple[str, Callable[[], object]]]]:
    """Of each attribute its default, in their order; and those that each row has made for it."""
    fields = model._meta.concrete_fields
    made = [
        (field.attname, field.get_default)
        for field in fields
        if (callable(field.default) and field.has_default())
        or field.db_default is not models.NOT_PROVIDED
    ]
    names = {name for name, _ in made}
    constant = {
        field.attname: None if field.attname in names else field.get_default() for field in fields
    }
    return constant, made
