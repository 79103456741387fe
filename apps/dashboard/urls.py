"""THE table of pages: path, name, view, who may read, who may write, and where a fresh code is
asked for. A `Page` is only read, a `form` read and sent back, a `button` only pressed. `stepup`
asks for a code before the page, for five minutes; `is_act` on the page, for what it does."""

from apps.dashboard import home, swaps, test_data
from apps.dashboard.account import passkeys, profile, recovery, security, sessions, sign_in, sign_up
from apps.dashboard.agentic import agents, mandates, x402
from apps.dashboard.billing import customers, invoice_editor, products, series, subscriptions, taxes
from apps.dashboard.billing import invoices as billing_invoices
from apps.dashboard.books import account_codes, balances, reports, statements
from apps.dashboard.developers import (
    events,
    keys,
    oauth_apps,
    oauth_grants,
    pairing,
    request_log,
    test_clock,
    test_emails,
    webhook_endpoints,
)
from apps.dashboard.link import links, one_time_links
from apps.dashboard.notices import attention, notifications
from apps.dashboard.payment import detail as payment_detail
from apps.dashboard.payment import invoice as invoices
from apps.dashboard.payment import notes as payment_notes
from apps.dashboard.payment import payments, refund_list, refunds, transactions, transfers
from apps.dashboard.payment import shortfall as payment_shortfall
from apps.dashboard.payout import approvals, payouts
from apps.dashboard.payout import batches as payout_batches
from apps.dashboard.payout import destinations as payout_destinations
from apps.dashboard.payout import form as payout_form
from apps.dashboard.payout import schedules as payout_schedules
from apps.dashboard.platform import payments as platform_payments
from apps.dashboard.platform import platforms
from apps.dashboard.searching import search
from apps.dashboard.site import switches
from apps.dashboard.site.views import EVERYBODY, SIGNED_IN, Page, button, form
from apps.dashboard.store import (
    audit_log,
    btcpay_api,
    features,
    join,
    members,
    own_wallets,
    settings,
    setup,
    verification,
    waiting_period,
)
from apps.dashboard.store import closing as store_closing
from apps.dashboard.tables import lists
from apps.dashboard.till import charging as till
from apps.dashboard.till import sales as till_sales
from apps.dashboard.till import settings as till_settings
from apps.stores.roles import DEVELOP, INSPECT, KEEP_BOOKS, MANAGE, MOVE_MONEY, OWN, PAY, SELL, VIEW

app_name = "dashboard"

PAGES = (
    # Signing in, signing up and what every page has.
    form("sign-in", "sign_in", sign_in.password, EVERYBODY),
    form("sign-in/code", "sign_in_code", sign_in.code, EVERYBODY),
    form("sign-in/passkey", "sign_in_passkey", sign_in.passkey, EVERYBODY),
    form("sign-up", "sign_up", sign_up.begin, EVERYBODY),
    form("sign-up/code", "sign_up_code", sign_up.code, EVERYBODY),
    form("sign-up/store", "sign_up_store", sign_up.first_store, EVERYBODY),
    form("sign-up/invited/<str:token>", "sign_up_invited", sign_up.invited, EVERYBODY),
    form("stores/new", "another_store", sign_up.another_store, SIGNED_IN),
    form("forgot", "forgot", recovery.forgot, EVERYBODY),
    form("reset/<str:id>/<str:token>", "reset", recovery.reset, EVERYBODY),
    form("email/<str:token>", "confirm_email", recovery.confirm_email, EVERYBODY),
    form("sign-ins/<str:token>", "new_sign_in", sessions.end_by_link, EVERYBODY),
    button("sign-out", "sign_out", sign_in.sign_out, EVERYBODY),
    form("confirm", "stepup", sign_in.confirm, SIGNED_IN),
    button("store", "switch_store", switches.store, SIGNED_IN),
    button("mode", "switch_mode", switches.mode, SIGNED_IN),
    button("theme", "switch_theme", switches.theme, SIGNED_IN),
    Page("", "home", home.index),
    button("setup", "setup", setup.change, MANAGE),
    button("lists", "list_setup", lists.set_up, SIGNED_IN),
    Page("search", "search", search.index),
    Page("attention", "attention", attention.index),
    # Payments, payment links and the point of sale.
    Page("payments", "payments", payments.index),
    Page("payments.csv", "payments_export", payments.export, KEEP_BOOKS),
    form("payments/new", "payment_create", one_time_links.create, PAY),
    Page("payments/<str:id>", "payment", payment_detail.show_one),
    Page("payments/<str:id>/invoice", "payment_invoice", invoices.download, renders="pdf"),
    Page("payments/<str:id>/link", "payment_link", one_time_links.show_link),
    form("payments/<str:id>/note", "payment_note", payment_notes.create, PAY),
    form("payments/<str:id>/transaction", "payment_transaction", transactions.find_one, PAY),
    form("payments/<str:id>/cancel", "payment_cancel", payment_detail.cancel, PAY),
    form(
        "payments/<str:id>/shortfall",
        "payment_shortfall",
        payment_shortfall.accept,
        MOVE_MONEY,
        stepup=True,
    ),
    form("payments/<str:id>/extend", "payment_extend", payment_shortfall.extend, PAY),
    form("payments/<str:id>/refund", "refund", refunds.create, MOVE_MONEY, is_act=True),
    form(
        "payments/<str:id>/late-deposits/<str:deposit_id>",
        "late_deposit",
        payment_detail.accept_late,
        MOVE_MONEY,
        stepup=True,
    ),
    Page("transfers/<str:id>", "transfer", transfers.show_one),
    button(
        "transfers/<str:id>/accept", "transfer_accept", transfers.accept, MOVE_MONEY, is_act=True
    ),
    button(
        "transfers/<str:id>/return", "transfer_return", transfers.send_back, MOVE_MONEY, is_act=True
    ),
    Page("payment-links", "links", links.index),
    Page("payment-links.csv", "links_export", links.export, KEEP_BOOKS),
    form("payment-links/new", "link_create", links.create, PAY),
    Page("payment-links/<str:id>", "link", links.show_one),
    Page(
        "payment-links/<str:id>/payments.csv",
        "link_payments_export",
        links.export_payments,
        KEEP_BOOKS,
    ),
    form("payment-links/<str:id>/edit", "link_edit", links.edit, PAY),
    button("payment-links/<str:id>/switch", "link_switch", links.switch, PAY),
    form("payment-links/<str:id>/archive", "link_archive", links.archive, PAY),
    Page("payment-links/<str:id>/button", "link_button", links.button),
    Page("payment-links/<str:id>/code.svg", "link_code_svg", links.code_svg),
    Page("payment-links/<str:id>/code.png", "link_code_png", links.code_png),
    form("point-of-sale", "till", till.index, SELL),
    Page("point-of-sale/worker.js", "till_worker", till.worker, EVERYBODY),
    Page("point-of-sale/sales", "till_sales", till_sales.index, SELL),
    button("point-of-sale/name", "till_name", till.choose_name, SELL),
    button("point-of-sale/discard", "till_discard", till.discard, SELL),
    form("point-of-sale/settings", "till_settings", till_settings.edit, MANAGE),
    form("point-of-sale/items", "till_items", till_settings.items, MANAGE),
    form("point-of-sale/items/<str:id>", "till_item", till_settings.item, MANAGE),
    button("point-of-sale/items/<str:id>/remove", "till_item_remove", till_settings.remove, MANAGE),
    Page("point-of-sale/<str:id>", "till_sale", till_sales.show_one, SELL),
    button("point-of-sale/<str:id>/tip", "till_tip", till_sales.tip, SELL),
    button("point-of-sale/<str:id>/cancel", "till_cancel", till_sales.cancel, SELL),
    button("point-of-sale/<str:id>/quote", "till_quote", till_sales.quote, SELL),
    button("point-of-sale/<str:id>/receipt", "till_receipt", till_sales.receipt, SELL),
    # Billing.
    Page("invoices", "invoices", billing_invoices.index),
    Page("invoices.csv", "invoices_export", billing_invoices.export, KEEP_BOOKS),
    form("invoices/new", "invoice_create", invoice_editor.create, PAY),
    Page("invoices/<str:id>", "invoice", billing_invoices.show_one),
    form("invoices/<str:id>/edit", "invoice_edit", invoice_editor.edit, PAY),
    Page("invoices/<str:id>/file", "invoice_file", billing_invoices.download, renders="pdf"),
    button("invoices/<str:id>/deliver", "invoice_deliver", billing_invoices.deliver, PAY),
    button("invoices/<str:id>/credit-email", "credit_note_send", billing_invoices.send_note, PAY),
    form("invoices/<str:id>/<str:act>", "invoice_act", billing_invoices.act, PAY),
    Page("subscriptions", "subscriptions", subscriptions.index),
    Page("subscriptions.csv", "subscriptions_export", subscriptions.export, KEEP_BOOKS),
    form("subscriptions/new", "subscription_create", subscriptions.create, PAY),
    Page("subscriptions/<str:id>", "subscription", subscriptions.show_one),
    form("subscriptions/<str:id>/change", "subscription_change", subscriptions.change, PAY),
    form("subscriptions/<str:id>/<str:act>", "subscription_act", subscriptions.act, PAY),
    Page("customers", "customers", customers.index),
    Page("customers.csv", "customers_export", customers.export, KEEP_BOOKS),
    form("customers/new", "customer_create", customers.create, PAY),
    Page("customers/<str:id>", "customer", customers.show_one),
    form("customers/<str:id>/edit", "customer_edit", customers.edit, PAY),
    form("customers/<str:id>/delete", "customer_delete", customers.delete, PAY),
    Page("products", "products", products.index),
    Page("products.csv", "products_export", products.export, KEEP_BOOKS),
    Page("products/prices.csv", "prices_export", products.export_prices, KEEP_BOOKS),
    form("products/new", "product_create", products.create, PAY),
    form("products/<str:id>", "product", products.show_one, VIEW, PAY),
    form("products/<str:id>/edit", "product_edit", products.edit, PAY),
    form("products/<str:id>/prices/new", "price_create", products.create_price, PAY),
    button("products/<str:id>/prices/<str:price_id>", "price_switch", products.switch_price, PAY),
    # Platforms.
    Page("platform", "platform", platforms.index),
    button("platform/ask", "platform_ask", platforms.ask, MANAGE),
    Page("platform/accounts", "platform_accounts", platforms.index_accounts),
    Page(
        "platform/accounts.csv", "platform_accounts_export", platforms.export_accounts, KEEP_BOOKS
    ),
    form("platform/accounts/new", "platform_account_create", platforms.create_account, MANAGE),
    form("platform/accounts/<str:id>", "platform_account", platforms.show_account, VIEW, MANAGE),
    form(
        "platform/accounts/<str:id>/link",
        "platform_link_create",
        platforms.create_link,
        MANAGE,
        is_act=True,
    ),
    form("platform/accounts/<str:id>/verification", "platform_attest", platforms.attest, MANAGE),
    form(
        "platform/accounts/<str:id>/close",
        "platform_account_close",
        platforms.close_account,
        MANAGE,
        stepup=True,
    ),
    button(
        "platform/accounts/<str:id>/restore",
        "platform_account_restore",
        platforms.restore_account,
        MANAGE,
    ),
    Page("platform/payments", "platform_payments", platform_payments.index),
    Page("platform/payments/<str:id>", "platform_payment", platform_payments.show_one),
    Page("platform/payments.csv", "platform_payments_export", platform_payments.export, KEEP_BOOKS),
    # The books.
    Page("statement", "statement", statements.index, KEEP_BOOKS),
    Page("statement.csv", "statement_export", statements.export, KEEP_BOOKS),
    Page("reports", "reports", reports.index, KEEP_BOOKS),
    Page("reports/<str:id>/file", "report_file", reports.download, KEEP_BOOKS),
    Page("balances", "balances", balances.index),
    Page("balances.csv", "balances_export", balances.export, KEEP_BOOKS),
    Page("refunds", "refunds", refund_list.index),
    Page("refunds.csv", "refunds_export", refund_list.export, KEEP_BOOKS),
    # Money that goes out.
    Page("payouts", "payouts", payouts.index),
    Page("payouts.csv", "payouts_export", payouts.export, KEEP_BOOKS),
    form("payouts/new", "payout_create", payout_form.create, MOVE_MONEY, is_act=True),
    Page("payouts/batches", "payout_batches", payout_batches.index),
    Page("payouts/batches.csv", "payout_batches_export", payout_batches.export_all, KEEP_BOOKS),
    form("payouts/batches/new", "payout_batch_create", payout_batches.create, MOVE_MONEY),
    Page("payouts/batches/template.csv", "payout_batch_template", payout_batches.template),
    form(
        "payouts/batches/<str:id>",
        "payout_batch",
        payout_batches.show_one,
        VIEW,
        MOVE_MONEY,
        is_act=True,
    ),
    button(
        "payouts/batches/<str:id>/discard",
        "payout_batch_discard",
        payout_batches.discard,
        MOVE_MONEY,
    ),
    Page(
        "payouts/batches/<str:id>/lines.csv",
        "payout_batch_export",
        payout_batches.export,
        KEEP_BOOKS,
    ),
    Page("payouts/destinations", "payout_destinations", payout_destinations.index),
    Page(
        "payouts/destinations.csv",
        "payout_destinations_export",
        payout_destinations.export,
        KEEP_BOOKS,
    ),
    form(
        "payouts/destinations/wallet",
        "payout_wallet_add",
        payout_destinations.add_a_wallet,
        MOVE_MONEY,
        is_act=True,
    ),
    form(
        "payouts/destinations/bank",
        "payout_bank_add",
        payout_destinations.add_a_bank,
        MOVE_MONEY,
        is_act=True,
    ),
    form(
        "payouts/destinations/<str:id>/remove",
        "payout_destination_remove",
        payout_destinations.remove,
        MOVE_MONEY,
    ),
    Page("payouts/schedules", "payout_schedules", payout_schedules.index),
    Page("payouts/schedules.csv", "payout_schedules_export", payout_schedules.export, KEEP_BOOKS),
    form(
        "payouts/schedules/new",
        "payout_schedule_create",
        payout_schedules.create,
        MOVE_MONEY,
        is_act=True,
    ),
    Page("payouts/schedules/<str:id>", "payout_schedule", payout_schedules.show_one),
    form(
        "payouts/schedules/<str:id>/change",
        "payout_schedule_change",
        payout_schedules.change,
        MOVE_MONEY,
        is_act=True,
    ),
    button(
        "payouts/schedules/<str:id>/switch",
        "payout_schedule_switch",
        payout_schedules.switch,
        MOVE_MONEY,
        is_act=True,
    ),
    form(
        "payouts/schedules/<str:id>/run",
        "payout_schedule_run",
        payout_schedules.run,
        MOVE_MONEY,
        is_act=True,
    ),
    form(
        "payouts/schedules/<str:id>/delete",
        "payout_schedule_delete",
        payout_schedules.delete,
        MOVE_MONEY,
    ),
    Page("payouts/<str:id>", "payout", payouts.show_one),
    button("payouts/<str:id>/retry", "payout_retry", payouts.retry, MOVE_MONEY, is_act=True),
    button("payouts/<str:id>/give-up", "payout_give_up", payouts.give_up, MOVE_MONEY),
    Page("approvals", "approvals", approvals.index),
    Page("approvals.csv", "approvals_export", approvals.export, KEEP_BOOKS),
    Page("approvals/<str:id>", "approval", approvals.show_one),
    form(
        "approvals/<str:id>/approve", "approval_approve", approvals.approve, MOVE_MONEY, is_act=True
    ),
    form("approvals/<str:id>/reject", "approval_reject", approvals.reject, MOVE_MONEY),
    Page("swaps", "swaps", swaps.index),
    Page("swaps.csv", "swaps_export", swaps.export, KEEP_BOOKS),
    form("swaps/new", "swap_create", swaps.create, MOVE_MONEY, is_act=True),
    Page("swaps/<str:id>", "swap", swaps.show_one),
    form("settings/auto-swap", "settings_auto_swap", swaps.automatic, VIEW, MANAGE, is_act=True),
    # Developers and agents.
    Page("api-keys", "keys", keys.index, INSPECT),
    form("api-keys/new", "key_create", keys.create, DEVELOP, is_act=True),
    form("api-keys/pair", "key_pair", pairing.pair, DEVELOP, is_act=True),
    form("api-keys/<str:id>/revoke", "key_revoke", keys.revoke, DEVELOP),
    form("api-keys/<str:id>/take-over", "key_take_over", keys.take_over, OWN, is_act=True),
    Page("requests", "request_log", request_log.index, INSPECT),
    Page("requests.csv", "request_log_export", request_log.export, INSPECT),
    Page("requests/<str:id>", "request_entry", request_log.show_one, INSPECT),
    Page("test-emails", "test_emails", test_emails.index, INSPECT),
    Page("test-emails/<str:id>", "test_email", test_emails.show_one, INSPECT),
    Page("audit-log", "audit_log", audit_log.index, MANAGE),
    Page("audit-log.csv", "audit_log_export", audit_log.export, MANAGE),
    Page("agents", "agents", agents.index, INSPECT),
    form("agents/new", "agent_create", agents.create, DEVELOP, is_act=True),
    Page("agents/x402", "x402", x402.index, INSPECT),
    Page("agents/x402.csv", "x402_export", x402.export, INSPECT),
    Page("agents/mandates", "mandates", mandates.index, INSPECT),
    Page("agents/mandates.csv", "mandates_export", mandates.export, INSPECT),
    Page("agents/mandates/<str:id>", "mandate", mandates.show_one, INSPECT),
    Page(
        "agents/mandates/<str:id>/draws.csv", "mandate_draws_export", mandates.export_draws, INSPECT
    ),
    button("agents/mandates/<str:id>/revoke", "mandate_revoke", mandates.revoke, DEVELOP),
    form("agents/<str:id>/revoke", "agent_revoke", agents.revoke, DEVELOP),
    form("agents/<str:id>/take-over", "agent_take_over", agents.take_over, OWN, is_act=True),
    form("agents/<str:id>/caps", "agent_caps", agents.caps, MOVE_MONEY, is_act=True),
    Page("webhooks", "webhook_endpoints", webhook_endpoints.index, INSPECT),
    form("webhooks/new", "webhook_endpoint_create", webhook_endpoints.create, DEVELOP, stepup=True),
    Page("webhooks/<str:id>", "webhook_endpoint", webhook_endpoints.show_one, INSPECT),
    form(
        "webhooks/<str:id>/edit",
        "webhook_endpoint_edit",
        webhook_endpoints.edit,
        DEVELOP,
        stepup=True,
    ),
    button(
        "webhooks/<str:id>/switch", "webhook_endpoint_switch", webhook_endpoints.switch, DEVELOP
    ),
    form(
        "webhooks/<str:id>/secret",
        "webhook_endpoint_rotate",
        webhook_endpoints.rotate,
        DEVELOP,
        stepup=True,
    ),
    form(
        "webhooks/<str:id>/delete",
        "webhook_endpoint_delete",
        webhook_endpoints.delete,
        DEVELOP,
        stepup=True,
    ),
    button(
        "webhooks/<str:id>/resend", "webhook_endpoint_resend", webhook_endpoints.resend, DEVELOP
    ),
    button(
        "webhooks/<str:id>/missed", "webhook_endpoint_missed", webhook_endpoints.missed, DEVELOP
    ),
    button("webhooks/<str:id>/test", "webhook_endpoint_test", webhook_endpoints.send_test, DEVELOP),
    Page(
        "webhooks/<str:id>/deliveries.csv",
        "deliveries_export",
        webhook_endpoints.export_deliveries,
        INSPECT,
    ),
    form(
        "webhooks/<str:id>/deliveries/<str:delivery_id>",
        "delivery",
        events.delivery,
        INSPECT,
        DEVELOP,
    ),
    Page("events", "events", events.index, INSPECT),
    Page("events.csv", "events_export", events.export, INSPECT),
    Page("events/<str:id>", "event", events.show_event, INSPECT),
    form("test-clock", "test_clock", test_clock.index, INSPECT, PAY),
    form("test-data", "test_data", test_data.index, OWN, is_act=True),
    Page("apps", "oauth_grants", oauth_grants.index, INSPECT),
    form("apps/granted/<str:family>/revoke", "oauth_grant_revoke", oauth_grants.revoke, DEVELOP),
    Page("apps/own", "oauth_apps", oauth_apps.index, INSPECT),
    form("apps/own/new", "oauth_app_create", oauth_apps.create, DEVELOP, stepup=True),
    form("apps/own/<str:id>", "oauth_app", oauth_apps.edit, INSPECT, DEVELOP, is_act=True),
    form("apps/own/<str:id>/secret", "oauth_app_rotate", oauth_apps.rotate, DEVELOP, is_act=True),
    form(
        "apps/own/<str:id>/deactivate",
        "oauth_app_deactivate",
        oauth_apps.deactivate,
        DEVELOP,
        stepup=True,
    ),
    # The team.
    Page("team", "members", members.index),
    Page("team.csv", "members_export", members.export, KEEP_BOOKS),
    form("team/invite", "member_invite", members.invite, MANAGE, is_act=True),
    button(
        "team/invitations/<str:id>/resend", "invitation_resend", members.resend, MANAGE, is_act=True
    ),
    button("team/invitations/<str:id>/revoke", "invitation_revoke", members.revoke, MANAGE),
    form("team/leave", "member_leave", members.leave, SIGNED_IN),
    form("team/<str:id>/role", "member_role", members.change_role, MANAGE, is_act=True),
    form("team/<str:id>/remove", "member_remove", members.remove, MANAGE, stepup=True),
    form("team/<str:id>/owner", "member_hand_over", members.hand_over, OWN, is_act=True),
    form("stop/<str:token>", "stop", waiting_period.stop, EVERYBODY),
    form("settings/waiting", "settings_waiting", waiting_period.hours, VIEW, OWN, is_act=True),
    form("settings/approvals", "settings_approvals", approvals.rule, VIEW, OWN, is_act=True),
    form("join/<str:token>", "join", join.join, EVERYBODY),
    # Settings of the store.
    form("verification", "verification", verification.page, VIEW, MANAGE),
    form("settings/store", "settings_store", settings.details, VIEW, MANAGE),
    form("settings/store/close", "settings_store_close", store_closing.close, OWN, stepup=True),
    form("settings/embedding", "settings_embedding", settings.embedding, VIEW, MANAGE),
    form("settings/btcpay", "settings_btcpay", btcpay_api.switch, VIEW, OWN, stepup=True),
    form("settings", "settings", settings.checkout, VIEW, MANAGE),
    form("settings/assets", "settings_assets", settings.assets, VIEW, MANAGE),
    Page("settings/wallets", "settings_wallets", own_wallets.index),
    form("settings/wallets/change", "settings_wallet", own_wallets.change, OWN, is_act=True),
    Page("settings/wallets/collect", "wallet_collect", own_wallets.forwarded),
    button("settings/wallets/<str:id>/stop", "wallet_stop", own_wallets.stop, MANAGE),
    form("settings/branding", "settings_branding", settings.branding, VIEW, MANAGE),
    form("settings/taxes", "settings_taxes", taxes.settings, VIEW, MANAGE),
    form("settings/documents", "settings_documents", series.edit, VIEW, MANAGE),
    form("settings/taxes/new", "tax_rate_create", taxes.create_rate, MANAGE),
    form("settings/account-codes", "settings_account_codes", account_codes.edit, VIEW, MANAGE),
    form("settings/domain", "settings_domain", settings.domain, VIEW, MANAGE),
    form(
        "settings/domain/change",
        "settings_domain_change",
        settings.change_domain,
        MANAGE,
        stepup=True,
    ),
    Page("settings/features", "features", features.index),
    form("settings/selling", "settings_selling", setup.selling, VIEW, MANAGE),
    button("settings/logo", "settings_logo", settings.logo, MANAGE),
    # What belongs to the person.
    Page("security", "security", security.index, SIGNED_IN),
    Page("notifications", "notifications", notifications.index),
    form("notifications/settings", "notification_settings", notifications.choose, SIGNED_IN),
    button("notifications/read", "notification_read", notifications.mark_read, SIGNED_IN),
    Page("notifications/<str:id>", "notification", notifications.open_one),
    form("unsubscribe/<str:token>", "unsubscribe", notifications.unsubscribe, EVERYBODY),
    form("profile", "profile", profile.edit, SIGNED_IN),
    form("security/authenticator", "security_enrol", security.enrol, SIGNED_IN),
    form(
        "security/authenticator/remove",
        "security_take_off",
        security.take_off,
        SIGNED_IN,
        is_act=True,
    ),
    form("security/backup-codes", "security_codes", security.renew_codes, SIGNED_IN, is_act=True),
    Page("security/sessions", "sessions", sessions.index, SIGNED_IN),
    button("security/sessions/end-others", "session_end_others", sessions.end_others, SIGNED_IN),
    button("security/sessions/<str:id>/end", "session_end", sessions.end_one, SIGNED_IN),
    Page("security/passkeys", "passkeys", passkeys.index, SIGNED_IN),
    form("security/passkeys/new", "passkey_add", passkeys.add, SIGNED_IN, is_act=True),
    button("security/passkeys/<str:id>/rename", "passkey_rename", passkeys.rename, SIGNED_IN),
    form(
        "security/passkeys/<str:id>/remove",
        "passkey_remove",
        passkeys.remove,
        SIGNED_IN,
        is_act=True,
    ),
    form("security/email", "security_email", security.email, SIGNED_IN, is_act=True),
    form("security/close", "security_close", security.close, SIGNED_IN, stepup=True),
    form("security/password", "security_password", security.password, SIGNED_IN, stepup=True),
)

urlpatterns = [page.route() for page in PAGES]
