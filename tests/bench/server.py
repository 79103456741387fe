"""The product's own server with the plain endpoints beside it: `granian
tests.bench.server:application`."""

from typing import Any

from config.asgi import application as product  # models exist from here on


def _application() -> Any:
    from django.conf import settings
    from django.urls import path

    import config.urls
    from tests.bench import plain, plain_reads

    for name, modes in settings.LIMITS.items():
        settings.LIMITS[name] = dict.fromkeys(modes, (10_000_000, 1_000_000))
    config.urls.urlpatterns[:0] = [
        path("bench/create", plain.Plain.as_view()),
        path("bench/orm/payment/<uuid:id>", plain_reads.OnePayment.as_view()),
        path("bench/orm/payments", plain_reads.Payments.as_view()),
        path("bench/orm/balances", plain_reads.Balances.as_view()),
        path("bench/sql/payment/<uuid:id>", plain_reads.sql_payment),
        path("bench/sql/payments", plain_reads.sql_payments),
        path("bench/sql/balances", plain_reads.sql_balances),
    ]
    return product


application = _application()
