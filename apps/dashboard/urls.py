"""THE table of pages: path, name, view, who may read, who may write, and where a fresh code is asked for."""

from apps.dashboard import (
    home,
    invoices,
    keys,
    members,
    payment_links,
    payments,
    refunds,
    security,
    settings,
    sign_in,
    switches,
    webhook_endpoints,
)
from apps.dashboard.plumbing import EVERYBODY, SIGNED_IN, Page
from apps.stores.roles import DEVELOP, MANAGE, MOVE_MONEY, PAY, VIEW

app_name = "dashboard"
BOTH, POST = ("GET", "POST"), ("POST",)

PAGES = (
    Page("sign-in", "sign_in", sign_in.password, EVERYBODY, methods=BOTH),
    Page("sign-in/code", "sign_in_code", sign_in.code, EVERYBODY, methods=BOTH),
    Page("sign-out", "sign_out", sign_in.sign_out, EVERYBODY, methods=POST),
    Page("confirm", "stepup", sign_in.confirm, SIGNED_IN, methods=BOTH),
    Page("store", "switch_store", switches.store, SIGNED_IN, methods=POST),
    Page("mode", "switch_mode", switches.mode, SIGNED_IN, methods=POST),
    Page("", "home", home.index),
    Page("payments", "payments", payments.index),
    Page("payments.csv", "payments_export", payments.export),
    Page("payments/new", "payment_create", payment_links.create, PAY, methods=BOTH),
    Page("payments/<str:id>", "payment", payments.show_one),
    Page("payments/<str:id>/invoice", "payment_invoice", invoices.download),
    Page("payments/<str:id>/link", "payment_link", payment_links.show_link),
    Page("payments/<str:id>/refund", "refund", refunds.create, MOVE_MONEY, methods=BOTH, stepup=True),
    Page("payments/<str:id>/late-deposits/<str:deposit_id>", "late_deposit", payments.accept_late, MOVE_MONEY, methods=BOTH, stepup=True),
    Page("api-keys", "keys", keys.index),
    Page("api-keys/new", "key_create", keys.create, DEVELOP, methods=BOTH, stepup=True),
    Page("api-keys/<str:id>/revoke", "key_revoke", keys.revoke, DEVELOP, methods=BOTH),
    Page("webhooks", "webhook_endpoints", webhook_endpoints.index),
    Page("webhooks/new", "webhook_endpoint_create", webhook_endpoints.create, DEVELOP, methods=BOTH, stepup=True),
    Page("webhooks/<str:id>", "webhook_endpoint", webhook_endpoints.show_one),
    Page("webhooks/<str:id>/switch", "webhook_endpoint_switch", webhook_endpoints.switch, DEVELOP, methods=POST),
    Page("webhooks/<str:id>/secret", "webhook_endpoint_rotate", webhook_endpoints.rotate, DEVELOP, methods=BOTH, stepup=True),
    Page("webhooks/<str:id>/delete", "webhook_endpoint_delete", webhook_endpoints.delete, DEVELOP, methods=BOTH),
    Page("webhooks/<str:id>/test", "webhook_endpoint_test", webhook_endpoints.send_test, DEVELOP, methods=POST),
    Page("webhooks/<str:id>/deliveries/<str:delivery_id>", "redeliver", webhook_endpoints.redeliver, DEVELOP, methods=POST),
    Page("team", "members", members.index),
    Page("settings", "settings", settings.checkout, VIEW, MANAGE, methods=BOTH),
    Page("settings/assets", "settings_assets", settings.assets, VIEW, MANAGE, methods=BOTH),
    Page("settings/branding", "settings_branding", settings.branding, VIEW, MANAGE, methods=BOTH),
    Page("settings/logo", "settings_logo", settings.logo, MANAGE, methods=POST),
    Page("security", "security", security.index, SIGNED_IN),
    Page("security/authenticator", "security_enrol", security.enrol, SIGNED_IN, methods=BOTH),
    Page("security/authenticator/remove", "security_take_off", security.take_off, SIGNED_IN, methods=BOTH, stepup=True),
    Page("security/backup-codes", "security_codes", security.renew_codes, SIGNED_IN, methods=BOTH, stepup=True),
    Page("security/password", "security_password", security.password, SIGNED_IN, methods=BOTH, stepup=True),
)

urlpatterns = [page.route() for page in PAGES]
