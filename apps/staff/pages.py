"""Shared parts of the staff pages. Staff read; what they may change goes through a service or is a
plain switch.

Who may what is asked of apps.stores.staff_roles. No page adds or deletes rows.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from apps.core.db.replica import reads_may_lag
from apps.core.text.words import sentence
from apps.staff import history, lists
from apps.staff.labels import column_label, in_one_order
from apps.staff.plumbing.paging import CappedPaginator
from apps.staff.plumbing.seen import SEEN, STALE, digest_of
from apps.staff.plumbing.times import PageWithCreationTime
from apps.staff.plumbing.unit_fields import UnitField, unit_field_of
from apps.staff.plumbing.values import STATUS_FIELDS, record_title, shown
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.stores.staff_roles import StaffMember, StaffOperation

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
    _TabularInline = admin.TabularInline[Any, Any]
    _ModelForm = forms.ModelForm[Any]
else:
    _ModelAdmin = admin.ModelAdmin
    _TabularInline = admin.TabularInline
    _ModelForm = forms.ModelForm

REASON_MAX = 500


def may(request: HttpRequest, operation: StaffOperation | None) -> bool:
    """The site has seen to it that only staff come here."""
    return operation is not None and staff_roles.may(cast(StaffMember, request.user), operation)


def button(
    operation: StaffOperation, description: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An action over chosen rows, for those who may, with a reason."""

    def decorate(action: Callable[..., None]) -> Callable[..., None]:
        @admin.action(description=description)
        @wraps(action)
        def run(self: Any, request: HttpRequest, rows: Any) -> None:
            if not may(request, operation):
                raise PermissionDenied
            if not typed_reason(request):
                messages.error(request, "Nothing was changed: give a reason")
                return
            action(self, request, rows)

        run.operation = operation  # type: ignore[attr-defined]  # read by get_actions, and by a test
        return run

    return decorate


def typed_reason(request: HttpRequest) -> str:
    """Why somebody does it, as a form of the site was sent."""
    return request.POST.get("reason", "").replace("\x00", "").strip()[:REASON_MAX]


def reason_field(help_text: str = "Saved in the audit log.") -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 3})
    return forms.CharField(max_length=REASON_MAX, widget=widget, help_text=help_text)


class ReasonForm(ActionForm):
    """Beside the buttons of a list."""

    action = forms.ChoiceField(label="Action")
    reason = forms.CharField(label="Reason", required=False, max_length=REASON_MAX)


class Record:
    """Names of a model's records and columns for people, and the display of values."""

    model: Any
    # One and several, where the model's own name isn't what people say.
    names: ClassVar[tuple[str, str] | None] = None
    noun: ClassVar[str] = ""  # whose badges its statuses have
    # Of columns whose names don't say it.
    labels: ClassVar[Mapping[str, str]] = {}
    # Of columns that the rules for all records don't know.
    value_texts: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    # Of columns whose codes have badges.
    code_nouns: ClassVar[Mapping[str, str]] = {}
    # When a value tells nobody anything: its column is named among the empty ones.
    says_nothing: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}

    @classmethod
    def singular(cls) -> str:
        return cls.names[0] if cls.names else str(cls.model._meta.verbose_name)

    @classmethod
    def plural(cls) -> str:
        return cls.names[1] if cls.names else str(cls.model._meta.verbose_name_plural)

    @classmethod
    def label_of(cls, name: str) -> str:
        return cls.labels.get(name) or column_label(name)

    @classmethod
    def column_labels(cls) -> dict[str, str]:
        return {field.name: cls.label_of(field.name) for field in cls.model._meta.fields}

    @classmethod
    def value_of(cls, row: Any, name: str) -> Any:
        text = cls.value_texts.get(name)
        return text(row) if text is not None else shown(row, name, cls.noun, cls.code_nouns)


class Permissions:
    """Staff read all rows; `operation` is what changing them is, None while nobody does that
    here."""

    operation: StaffOperation | None = None

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, staff_roles.READ)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes an archive of test data."""
        return getattr(obj, "archive_of_id", None) is None and may(request, self.operation)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(PageWithCreationTime, Record, Permissions, _ModelAdmin):
    """Rows that staff look at."""

    change_form_template = "staff/record.html"
    change_list_template = "staff/list.html"
    object_history_template = "staff/history.html"
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    paginator = CappedPaginator
    sortable_by = ()  # a list has the one order that its index serves
    empty_value_display = "—"
    action_form = ReasonForm
    show_facets = admin.ShowFacets.NEVER  # which count whole tables
    view_on_site = False  # what libraries call a page of a record isn't one here
    # Columns of lists that most pages have.
    created = lists.made("created_at", "Created")
    shop = lists.store()
    amount = lists.coins()
    state = lists.status()
    switches: tuple[str, ...] = ()  # the columns that who may change it types in
    listed_as = ""  # what people call the list, where it isn't the plural
    help_texts: ClassVar[Mapping[str, str]] = {}  # what an input says beside its label
    nothing = ""  # what a list without rows says, where there is more to say than that
    is_named = False  # whether its records may have names of their own, which need no noun before

    def get_form(
        self, request: HttpRequest, obj: Any | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        words = {"labels": self.column_labels(), "help_texts": self.help_texts}
        return super().get_form(request, obj, change, **{**words, **kwargs})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Fields with store, mode and time at one place on every page."""
        return in_one_order([str(name) for name in super().get_fields(request, obj)])

    @property
    def is_changed_here(self) -> bool:
        """True if staff change its records on the site, so that they have a history."""
        return self.operation is not None or bool(self.actions)

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Statuses in the words of their badges."""
        return [
            (item, lists.StatusFilter) if self.noun and item in STATUS_FIELDS else item
            for item in super().get_list_filter(request)
        ]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        page = super().get_changelist_instance(request)
        for spec in page.filter_specs:
            field = getattr(spec, "field", None)
            if field is not None:
                spec.title = self.label_of(field.name)
        return page

    @property
    def list_name(self) -> str:
        """Name of the list."""
        return self.listed_as or sentence(self.plural())

    def title_of(self, row: Any) -> str:
        """Name of a record, after the noun; its ID when it has no other name."""
        return record_title(row)

    def heading_of(self, row: Any) -> str:
        """Heading of the record's page."""
        title = self.title_of(row)
        return title if self.has_name(row) else f"{sentence(self.singular())} {title}"

    def has_name(self, row: Any) -> bool:
        return self.is_named and self.title_of(row) != str(row.pk)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        context = {"list_name": self.list_name, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """All that staff did to it, as the audit log has it."""
        row = self.get_object(request, object_id)
        if row is None or not self.has_view_permission(request, row):
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "title": f"History: {self.title_of(row)}",
            "opts": self.opts,
            "object": row,
            "list_name": self.list_name,
            "done": history.done_to(row),
            **(extra_context or {}),
        }
        return TemplateResponse(request, self.object_history_template, context)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        is_recent = any(getattr(item, "parameter_name", "") == "days" for item in self.list_filter)
        context = {
            "title": self.list_name,
            "is_recent": is_recent,
            "shows_all": request.GET.dict() == {"days": "all"},
            "nothing": self.nothing,
        }
        context |= extra_context or {}
        # What somebody has just done, and reads about in a message, is in the list below it.
        if request.method != "GET" or messages.get_messages(request):
            return super().changelist_view(request, context)
        return self._list_as_it_was(request, context)

    @reads_may_lag("lists that staff look through")
    def _list_as_it_was(self, request: HttpRequest, context: Any) -> HttpResponse:
        response = super().changelist_view(request, context)
        return response.render() if isinstance(response, TemplateResponse) else response

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        typed = search_term.replace("\x00", "").strip()[:200]
        return (lists.found_by(queryset, self.search_fields, typed) if typed else queryset), False

    def get_action_choices(self, request: HttpRequest, default_choices: Any = ()) -> Any:
        return super().get_action_choices(request, [("", "Choose an action"), *default_choices])

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        messages.success(request, f"{sentence(self.singular())} saved: {obj}")
        return self.response_post_save_change(request, obj)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """In the audit log too."""
        _record(obj, message, typed_reason(request))
        return super().log_change(request, obj, message)

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, options: Any, object_id: str
    ) -> HttpResponse:
        """Django would lead to the first page, with a message there."""
        raise Http404

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may(request, staff_roles.READ)

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        return {
            name: row
            for name, row in actions.items()
            if row and may(request, getattr(row[0], "operation", None))
        }


class Part(Record, Permissions, _TabularInline):
    """Rows of a record that are looked at with it."""

    template = "staff/part.html"
    extra = 0
    can_delete = False
    empty_value_display = "—"
    list_select_related: Sequence[str] = ()  # what its values are shown with

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related(*self.list_select_related)

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        return super().get_formset(request, obj, **{"labels": self.column_labels(), **kwargs})


class History(Part):
    """The steps of a record's status."""

    verbose_name_plural = "history"


class SwitchForm(_ModelForm):
    """Staff's change, with a reason for the audit log."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, field in self.fields.items():
            if isinstance(field, UnitField):
                field.belong_to(self.instance, name)
        self.initial[SEEN] = self.seen_now

    @property
    def seen_now(self) -> str:
        """The digest of what its inputs begin with."""
        names = [name for name in self.fields if name not in (SEEN, "reason")]
        return digest_of({name: self.initial.get(name) for name in names})

    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    reason = reason_field("Why you are changing this. Saved in the audit log.")


class Switches(ReadOnly):
    """Rows of which staff change the columns in `switches` and nothing else, with a reason."""

    form = SwitchForm
    formfield_overrides = {
        models.DateTimeField: {"form_class": forms.DateTimeField, "widget": forms.DateTimeInput},
        models.URLField: {"widget": forms.URLInput, "assume_scheme": "https"},
    }

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """In people's units, of a column that is typed in."""
        unit = unit_field_of(db_field) if db_field.name in self.switches else None
        if unit is None:
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        return db_field.formfield(**{**kwargs, "form_class": unit})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """A page that shows what the record isn't any more changes nothing of it."""
        if request.method != "POST" or object_id is None:
            return super().changeform_view(request, object_id, form_url, extra_context)
        with transaction.atomic():
            self.lock(object_id)
            row = self.get_object(request, object_id)
            if row is not None and self.has_change_permission(request, row):
                now = self.get_form(request, row, change=True)(instance=row).seen_now
                if request.POST.get(SEEN) != now:
                    messages.error(request, STALE)
                    return HttpResponseRedirect(request.path, status=303)
            return super().changeform_view(request, object_id, form_url, extra_context)

    def lock(self, object_id: str) -> None:
        """Locks the record against other changes."""
        list(self.model.objects.select_for_update(no_key=True).filter(pk=object_id).values("pk"))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Only what was changed is written: the web's role may update no other columns."""
        columns = {field.name for field in self.opts.concrete_fields}
        obj.save(update_fields=[name for name in form.changed_data if name in columns])

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """Message of the history: the changed fields, and the reason."""
        labels = [
            str(form.fields[name].label)
            for name in form.changed_data
            if name not in (SEEN, "reason")
        ]
        labels += [part.plural() for part in formsets if part.changed_objects]
        outcome = f"Changed {', '.join(labels)}" if labels else "Saved without changes"
        _note_typed(form)
        return f"{outcome}: {typed_reason(request)}"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Fields without a reason for readers."""
        fields = [name for name in super().get_fields(request, obj) if name not in (SEEN, "reason")]
        return [*fields, "reason"] if self.has_change_permission(request, obj) else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        # Django would show an excluded column that is read-only.
        hidden = {*self.switches, *(self.exclude or ())}
        return [
            field.name
            for field in self.opts.fields
            # A number that the database counts up is nobody's name for a record.
            if field.name not in hidden and not isinstance(field, models.AutoField)
        ]


def _note_typed(form: Any) -> None:
    """Keep for the audit log the numbers and choices that were typed in: texts may be about a
    person."""
    form.instance.typed_values = {
        name: form.cleaned_data[name]
        for name in form.changed_data
        if name != SEEN
        if isinstance(form.cleaned_data[name], (int, Decimal, type(None)))
        or (isinstance(form.cleaned_data[name], str) and hasattr(form.fields[name], "choices"))
    }


def _record(obj: Any, message: Any, reason: str) -> None:
    store = obj if isinstance(obj, Store) else getattr(obj, "store", None)
    typed = getattr(obj, "typed_values", {})
    details = {"message": message} if isinstance(message, str) else {"changed": message}
    audit.record(
        "staff.changed",
        store=store,
        mode=getattr(obj, "mode", ""),
        target=obj,
        name=str(obj),
        reason=reason,
        details={**typed, **details, "typed": sorted(typed)},
    )
