"""THE table of public pages. The checkout is also at the root of its origin, so that a script
needs only an origin."""

from django.urls import path, re_path

from apps.hosted import (
    actions,
    cards,
    checkout,
    destinations,
    domains,
    files,
    invoice,
    links,
    media,
    onboarding,
    portal,
    refund_address,
    sales,
    signatures,
    x402,
    x402_links,
)

REFERENCE = r"(?P<reference>[A-Z0-9]{16})"

EMAIL_LINK = r"(?P<token>[A-Za-z0-9_-]{16,100})"
LINK = r"(?P<reference>[a-z0-9]{12})"
INVOICE = r"(?P<reference>[A-Za-z0-9_-]{8,64})"
NUMBER = r"(?P<number>[1-9][0-9]{0,8})"
PORTAL = r"(?P<reference>[0-9a-f]{32}\.[A-Za-z0-9_-]{1,20}\.[A-Za-z0-9_-]{1,100})"
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

LOGO = r"(?P<store_id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(?P<digest>[0-9a-f]{32})"

# What a store's own domain serves too.
CHECKOUT = [
    path("embed.js", checkout.embed_script, name="embed_script"),
    re_path(rf"^(?:pay/)?{REFERENCE}$", checkout.checkout, name="checkout"),
    re_path(rf"^(?:pay/)?{REFERENCE}/pulse$", checkout.pulse, name="checkout_pulse"),
    re_path(rf"^(?:pay/)?{REFERENCE}/brand\.css$", checkout.brand_style, name="checkout_brand"),
    re_path(rf"^(?:pay/)?{REFERENCE}/wallets$", checkout.wallets, name="checkout_wallets"),
    re_path(rf"^(?:pay/)?{REFERENCE}/simulate$", checkout.simulate, name="checkout_simulate"),
    re_path(rf"^(?:pay/)?{REFERENCE}/card$", checkout.pay_by_card, name="checkout_card"),
    re_path(rf"^(?:pay/)?{REFERENCE}/card/leave$", cards.leave, name="checkout_card_leave"),
    re_path(rf"^(?:pay/)?{REFERENCE}/x402$", x402.pay, name="checkout_x402"),
    re_path(rf"^(?:pay/)?{REFERENCE}/signature$", signatures.sign, name="checkout_signature"),
    re_path(rf"^(?:pay/)?{REFERENCE}/quote$", actions.renew, name="checkout_quote"),
    re_path(rf"^(?:pay/)?{REFERENCE}/sent$", actions.sent, name="checkout_sent"),
    re_path(rf"^(?:pay/)?{REFERENCE}/receipt$", actions.receipt, name="checkout_receipt"),
    re_path(
        rf"^(?:pay/)?{REFERENCE}/refund-link$",
        refund_address.send_link,
        name="checkout_refund_link",
    ),
    re_path(
        rf"^(?:pay/)?{REFERENCE}/refund-address$",
        refund_address.enter,
        name="checkout_refund_address",
    ),
    re_path(
        rf"^(?:pay/)?{REFERENCE}/refund/{EMAIL_LINK}$",
        refund_address.by_link,
        name="checkout_refund",
    ),
    re_path(rf"^pay/{LINK}$", links.show, name="link"),
    re_path(rf"^pay/{LINK}/brand\.css$", links.brand_style, name="link_brand"),
    re_path(rf"^pay/{LINK}/x402$", x402_links.pay, name="link_x402"),
    re_path(rf"^pay/{LINK}/sale$", sales.show, name="sale"),
    re_path(rf"^pay/{LINK}/display$", sales.display, name="sale_display"),
    re_path(rf"^pay/{LINK}/sale/brand\.css$", sales.brand_style, name="sale_brand"),
]
urlpatterns = [
    path("internal/domain-allowed", domains.is_allowed, name="domain_allowed"),
    re_path(rf"^media/logos/{LOGO}\.png$", media.logo, name="logo"),
    re_path(
        r"^sandbox/card/(?P<reference>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$",
        cards.card_page,
        name="sandbox_card",
    ),
    path("files/<str:token>", files.download, name="private_file"),
    *CHECKOUT,
    re_path(rf"^invoice/{INVOICE}$", invoice.show, name="invoice"),
    re_path(rf"^invoice/{INVOICE}/pay$", invoice.pay, name="invoice_pay"),
    re_path(rf"^invoice/{INVOICE}/x402$", x402.pay_invoice, name="invoice_x402"),
    re_path(rf"^invoice/{INVOICE}/simulate$", invoice.simulate, name="invoice_simulate"),
    re_path(rf"^invoice/{INVOICE}/portal$", invoice.ask_for_portal, name="invoice_portal"),
    re_path(rf"^invoice/{INVOICE}/brand\.css$", invoice.brand_style, name="invoice_brand"),
    re_path(rf"^invoice/{INVOICE}/invoice\.pdf$", invoice.invoice_pdf, name="invoice_pdf"),
    re_path(rf"^invoice/{INVOICE}/invoice\.xml$", invoice.invoice_data, name="invoice_data"),
    re_path(rf"^invoice/{INVOICE}/receipt\.pdf$", invoice.receipt_pdf, name="invoice_receipt"),
    re_path(
        rf"^invoice/{INVOICE}/credit-notes/{NUMBER}\.pdf$",
        invoice.credit_note_pdf,
        name="credit_note_pdf",
    ),
    re_path(
        rf"^invoice/{INVOICE}/credit-notes/{NUMBER}\.xml$",
        invoice.credit_note_data,
        name="credit_note_data",
    ),
    re_path(rf"^portal/{PORTAL}$", portal.show, name="portal"),
    re_path(rf"^portal/{PORTAL}/brand\.css$", portal.brand_style, name="portal_brand"),
    re_path(rf"^portal/{PORTAL}/link$", portal.ask_again, name="portal_link"),
    re_path(
        rf"^portal/{PORTAL}/subscriptions/(?P<id>{UUID})/cancel$",
        portal.cancel,
        name="portal_cancel",
    ),
    re_path(
        rf"^portal/{PORTAL}/subscriptions/(?P<id>{UUID})/keep$", portal.keep, name="portal_keep"
    ),
    path("onboarding/destination/<str:token>", destinations.show, name="destination"),
    path(
        "onboarding/destination/<str:token>/send", destinations.send_again, name="destination_send"
    ),
    path("onboarding/stop/<str:token>", destinations.stop, name="destination_stop"),
    path("onboarding/<str:token>", onboarding.start, name="onboarding"),
    path("onboarding/<str:token>/business", onboarding.business, name="onboarding_business"),
    path("onboarding/<str:token>/payout", onboarding.payout, name="onboarding_payout"),
    path("onboarding/<str:token>/finish", onboarding.finish, name="onboarding_finish"),
]
