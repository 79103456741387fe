"""THE table of public pages. The checkout also stands at the root of its origin, so that a script needs only an origin."""

from django.urls import path, re_path

from apps.hosted import cards, checkout, domains, files, media, onboarding

REFERENCE = r"(?P<reference>[A-Z0-9]{16})"

LOGO = r"(?P<store_id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(?P<digest>[0-9a-f]{32})"

# What a store's own domain serves too.
CHECKOUT = [
    path("embed.js", checkout.embed_script, name="embed_script"),
    re_path(rf"^(?:pay/)?{REFERENCE}$", checkout.checkout, name="checkout"),
    re_path(rf"^(?:pay/)?{REFERENCE}/brand\.css$", checkout.brand_style, name="checkout_brand"),
    re_path(rf"^(?:pay/)?{REFERENCE}/simulate$", checkout.simulate, name="checkout_simulate"),
    re_path(rf"^(?:pay/)?{REFERENCE}/card$", checkout.pay_by_card, name="checkout_card"),
    re_path(rf"^(?:pay/)?{REFERENCE}/card/leave$", cards.leave, name="checkout_card_leave"),
]
urlpatterns = [
    path("internal/domain-allowed", domains.is_allowed, name="domain_allowed"),
    re_path(rf"^media/logos/{LOGO}\.png$", media.logo, name="logo"),
    re_path(r"^sandbox/card/(?P<reference>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$", cards.card_page, name="sandbox_card"),
    path("files/<str:token>", files.download, name="private_file"),
    *CHECKOUT,
    path("onboarding/<str:token>", onboarding.start, name="onboarding"),
    path("onboarding/<str:token>/business", onboarding.business, name="onboarding_business"),
    path("onboarding/<str:token>/payout", onboarding.payout, name="onboarding_payout"),
    path("onboarding/<str:token>/finish", onboarding.finish, name="onboarding_finish"),
]
