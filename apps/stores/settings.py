"""The settings of a store wherever they are kept: each app's in a row of its own.

This app knows no column of the others: it finds their rows by what they derive from.
"""

import uuid
from collections.abc import Mapping
from functools import cache

from django.apps import apps
from django.db import transaction
from django.utils.translation import gettext_noop

from apps.core.text.words import column_words
from apps.stores.models import Store
from apps.stores.models.settings import StoreSettings

# Of the store's own columns.
_LABELS = {
    "accept_overpayments": gettext_noop("Overpayments are accepted"),
    "accept_underpayments": gettext_noop("Underpayments are accepted"),
    "card_funding_live": gettext_noop("Cards in live mode"),
    "card_funding_test": gettext_noop("Cards in test mode"),
    "checkout_domain_checked_at": gettext_noop("Checkout domain last checked"),
    "customer_pays_fee": gettext_noop("Customer pays the fee"),
    "has_compatible_apis": gettext_noop("BTCPay API is on"),
    "is_platform": gettext_noop("Runs a platform"),
    "kyc_confirmed_at": gettext_noop("Business verified"),
    "payments_suspended_at": gettext_noop("New payments suspended"),
    "payouts_suspended_at": gettext_noop("Payouts suspended"),
    "platform_fee_before_fraction": gettext_noop("Platform fee before the raise"),
    "platform_fee_ceiling_fraction": gettext_noop("Ceiling of its platform fee"),
    "platform_fee_from": gettext_noop("Raised platform fee applies"),
    "remove_service_branding": gettext_noop("Hides Tillgate’s branding"),
    "settlement_currency": gettext_noop("Currency"),
    "sign_ins_suspended_at": gettext_noop("Sign-ins suspended"),
    "test_clock_target_seconds": gettext_noop("Test clock is moving to"),
    "test_offset_seconds": gettext_noop("Test clock"),
}


@cache
def settings_models() -> tuple[type[StoreSettings], ...]:
    """In the order in which the apps are installed."""
    return tuple(model for model in apps.get_models() if issubclass(model, StoreSettings))


def columns_of(model: type[StoreSettings]) -> list[str]:
    return [field.name for field in model._meta.fields if not field.primary_key]


@cache
def _models_by_column() -> Mapping[str, type[StoreSettings]]:
    return {column: model for model in settings_models() for column in columns_of(model)}


def model_of(column: str) -> type[StoreSettings] | None:
    """Model of a settings column; None for a column of the store itself."""
    return _models_by_column().get(column)


@cache
def labels_of_settings() -> Mapping[str, str]:
    """Of the store and of every app's settings, by column."""
    return {**_LABELS, **{k: v for model in settings_models() for k, v in model.labels.items()}}


def setting_label(name: str) -> str:
    """Label of a column of the store or of its settings, or of a name within its value."""
    return labels_of_settings().get(name) or column_words(name)


def rows_of(store: Store) -> list[StoreSettings]:
    """Every app's row of a store, with the defaults where there is none."""
    return [model.of(store) for model in settings_models()]


def write_settings(store: Store, changes: Mapping[str, object]) -> None:
    """Set columns that have been checked by the caller, of the store and of its settings."""
    by_model: dict[type[StoreSettings] | None, dict[str, object]] = {}
    for column, value in changes.items():
        by_model.setdefault(model_of(column), {})[column] = value

    with transaction.atomic():
        own = by_model.pop(None, {})
        for column, value in own.items():
            setattr(store, column, value)
        store.save(update_fields=list(own))
        if by_model:
            lock_settings(store.pk)
        for model, values in by_model.items():
            if model is not None:
                model._default_manager.update_or_create(store=store, defaults=values)


def lock_settings(store_id: uuid.UUID) -> Store:
    """The store, locked until this transaction ends, for writers of its settings."""
    return Store.objects.select_for_update(no_key=True).get(pk=store_id)


def values_of(store: Store, columns: list[str]) -> Mapping[str, object]:
    """Present values of columns of the store and of its settings."""
    rows: dict[type[StoreSettings], StoreSettings] = {}
    values = {}
    for column in columns:
        model = model_of(column)
        if model is None:
            values[column] = getattr(store, column)
            continue
        if model not in rows:
            rows[model] = model.of(store)
        values[column] = getattr(rows[model], column)
    return values
