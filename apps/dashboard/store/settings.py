"""The store's settings, shared by both modes but for its assets: checkout and fees, accepted
assets, branding, its domain.

Everybody in the store sees them; changing them takes the permission that the table of pages names.
"""

from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings as django_settings
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.agents.models import AgentSettings, CheckoutSignatures
from apps.agents.services.checkout_signatures import set_rule
from apps.assets import selectors
from apps.assets.lowest_prices import (
    PLACES,
    NotAccepted,
    NotBetween,
    NotPegged,
    lowest_prices,
    set_lowest_price,
)
from apps.assets.services import AssetNotActive, LastAsset, accept_all_listed, set_accepted
from apps.core import clock, money
from apps.core.errors import NotFound
from apps.core.messages.fields import Invalid
from apps.core.text.countries import countries
from apps.core.typed_amounts import coins_typed
from apps.core.web.forms import Form, sentences
from apps.core.web.refusals import status_of
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.stores import branding as looks
from apps.stores import domains, roles, services
from apps.stores.models import Currency, Store
from apps.stores.profile import zone_names
from apps.stores.requests import StoreDetails

# Below this a colour is hard to tell from the white of a page.
CONTRAST_MIN = 3.0


class CheckoutForm(Form):
    """A switch is `on` or empty."""

    names = (
        "settlement_currency",
        "support_email",
        "support_phone",
        "customer_pays_fee",
        "accept_overpayments",
        "accept_underpayments",
        "offers_new_quotes",
        "publishable_key_amounts",
        "checkout_signatures",
    )

    @classmethod
    def of(cls, store: Store) -> "CheckoutForm":
        rule = AgentSettings.of(store).checkout_signatures
        typed = {name: getattr(store, name, rule) for name in cls.names}
        return cls(
            {
                name: ("on" if value else "") if isinstance(value, bool) else value
                for name, value in typed.items()
            }
        )

    def change(self, store: Store) -> None:
        """Raises Failure."""
        typed = self.values
        services.change_checkout(
            store,
            settlement_currency=typed["settlement_currency"],
            support_email=typed["support_email"],
            support_phone=typed["support_phone"],
            customer_pays_fee=typed["customer_pays_fee"] == "on",
            accept_overpayments=typed["accept_overpayments"] == "on",
            accept_underpayments=typed["accept_underpayments"] == "on",
            offers_new_quotes=typed["offers_new_quotes"] == "on",
            publishable_key_amounts=typed["publishable_key_amounts"] == "on",
        )
        set_rule(store, typed["checkout_signatures"] or CheckoutSignatures.OFF)


class DetailsForm(Form):
    """Name and address of the seller."""

    names = (
        "name",
        "street",
        "postal_code",
        "city",
        "country",
        "legal_name",
        "vat_number",
        "register_number",
        "website",
        "time_zone",
        "customer_language",
    )
    labels = {
        "name": _("The store name"),
        "street": _("The street"),
        "postal_code": _("The postal code"),
        "city": _("The city"),
        "legal_name": _("The legal name"),
        "vat_number": _("The VAT number"),
        "register_number": _("The register number"),
        "website": _("The website"),
        "customer_language": _("The language"),
    }

    @classmethod
    def of(cls, store: Store) -> "DetailsForm":
        return cls({name: getattr(store, name) for name in cls.names})

    def request(self) -> StoreDetails:
        """Raises Invalid."""
        return StoreDetails.read(self.sent)


class EmbeddingForm(Form):
    """An origin on each line."""

    names = ("origins",)


class BrandingForm(Form):
    """Name and colours; the logo is a form of its own on the same page."""

    names = ("brand_name", "primary_color", "secondary_color", "logo")
    labels = {"brand_name": _("The name")}

    @classmethod
    def of(cls, store: Store) -> "BrandingForm":
        return cls(
            {
                name: getattr(store, name)
                for name in ("brand_name", "primary_color", "secondary_color")
            }
        )


class DomainForm(Form):
    names = ("domain",)


@dataclass(frozen=True)
class Legibility:
    """Legibility of the main color: the text on it, and its contrast with white."""

    ink: str
    contrast: str
    is_faint: bool


def details(request: PageRequest) -> HttpResponse:
    store = request.access.store
    if request.method == "GET":
        return _details_form(request, DetailsForm.of(store))
    form = DetailsForm.from_post(request.POST)
    try:
        is_owner = roles.may(request.member.role, roles.OWN)
        services.change_details(store, form.request(), is_owner=is_owner)
    except Refusals as refusal:
        return _details_form(request, form.refuse(refusal))
    messages.success(request, gettext("Store details saved."))
    return go("settings_store")


def _details_form(request: PageRequest, form: Form) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "countries": countries(),
        "languages": django_settings.LANGUAGES,
        "zones": zone_names(),
    }
    return show(request, "dashboard/settings/store.html", context, status=form.status)


def embedding(request: PageRequest) -> HttpResponse:
    """Sites that may show the checkout inside their own pages."""
    store = request.access.store
    if request.method == "GET":
        return _embedding_form(request, EmbeddingForm({"origins": "\n".join(store.embed_origins)}))
    form = EmbeddingForm.from_post(request.POST)
    try:
        services.change_embedding(store, form.values["origins"].split())
    except Refusals as refusal:
        return _embedding_form(request, form.refuse(refusal))
    messages.success(request, gettext("Saved. The list applies to checkouts opened from now on."))
    return go("settings_embedding")


def _embedding_form(request: PageRequest, form: Form) -> HttpResponse:
    context = {"form": form, "errors": form.common_errors}
    return show(request, "dashboard/settings/embedding.html", context, status=form.status)


def checkout(request: PageRequest) -> HttpResponse:
    store = request.access.store
    if request.method == "GET":
        return _checkout_form(request, CheckoutForm.of(store))
    form = CheckoutForm.from_post(request.POST)
    try:
        form.change(store)
    except Refusals as refusal:
        return _checkout_form(request, form.refuse(refusal))
    messages.success(request, gettext("Saved. New payments use these settings."))
    return go("settings")


def _checkout_form(request: PageRequest, form: Form) -> HttpResponse:
    store = request.access.store
    context = {
        "form": form,
        "errors": form.common_errors,
        "currencies": Currency.choices,
        "signature_rules": [(rule.value, gettext(rule.label)) for rule in CheckoutSignatures],
        "fee_percentage": money.percentage_text(store.fee_fraction),
        "platform_fee_percentage": (
            money.percentage_text(store.platform_fee_fraction or Decimal(0))
            if store.is_platform
            else ""
        ),
        "underpayment_tolerance": money.percentage_from_bps(store.underpayment_tolerance_bps),
        "overpayment_tolerance": money.percentage_from_bps(store.overpayment_tolerance_bps),
    }
    return show(request, "dashboard/settings/checkout.html", context, status=form.status)


def assets(request: PageRequest) -> HttpResponse:
    """The coins of the chosen mode, each taken or not."""
    access = request.access
    if request.method == "POST" and request.POST.get("to") == "all_accepted":
        accept_all_listed(access)
        return go("settings_assets")
    if request.method == "POST":
        chosen = next(
            (
                asset
                for asset in selectors.listed_assets(access.mode)
                if asset.pk == request.POST.get("asset_id")
            ),
            None,
        )
        if chosen is None:
            raise NotFound
        try:
            if request.POST.get("to") == "priced":
                set_lowest_price(access, chosen.pk, _price_typed(request))
            else:
                set_accepted(access, chosen.pk, request.POST.get("to") == "accepted")
        except (AssetNotActive, LastAsset, Invalid, NotAccepted, NotPegged, NotBetween) as refusal:
            errors = sentences(refusal, _("The lowest price"))
            return _assets_page(request, errors, status_of(refusal))
        return go("settings_assets")
    return _assets_page(request, [])


def _price_typed(request: PageRequest) -> str | None:
    """The lowest price; None where nothing is typed. Raises Invalid."""
    typed = request.POST.get("lowest_price", "").strip()
    return coins_typed(typed, "lowest_price", PLACES) if typed else None


def _assets_page(request: PageRequest, errors: list[str], status: int = 200) -> HttpResponse:
    access = request.access
    accepted = {asset.pk for asset in selectors.accepted_assets(access.store_id, access.mode)}
    active = selectors.active_assets(access.mode)
    lowest = lowest_prices(access)
    context = {
        "rows": [
            (asset, asset.pk in accepted, lowest.get(asset.pk))
            for asset in active
            if asset.is_listed
        ],
        "offered": [asset for asset in active if asset.is_listed and asset.pk not in accepted],
        "swap_assets": [asset for asset in active if not asset.is_listed],
        "is_last": len(accepted) == 1,
        "errors": errors,
    }
    return show(request, "dashboard/settings/assets.html", context, status=status)


def branding(request: PageRequest) -> HttpResponse:
    store = request.access.store
    if request.method == "GET":
        return _branding_form(request, BrandingForm.of(store))
    form = BrandingForm.from_post(request.POST)
    typed = form.values
    try:
        looks.change_branding(
            store,
            brand_name=typed["brand_name"],
            primary_color=typed["primary_color"],
            secondary_color=typed["secondary_color"],
        )
    except Refusals as refusal:
        return _branding_form(request, form.refuse(refusal))
    messages.success(request, gettext("Saved. Your checkout now looks like this."))
    return go("settings_branding")


def logo(request: PageRequest) -> HttpResponse:
    """Another logo, or none."""
    store = request.access.store
    uploaded = request.FILES.get("logo")
    try:
        if request.POST.get("to") == "removed":
            looks.remove_logo(store)
        elif uploaded is None:
            raise looks.NotAPicture
        elif (uploaded.size or 0) > looks.LOGO_BYTES_MAX:
            raise looks.LogoTooLarge
        else:
            looks.set_logo(store, uploaded.read())
    except Refusals as refusal:
        return _branding_form(request, BrandingForm.of(store).refuse(refusal))
    messages.success(request, gettext("Logo updated."))
    return go("settings_branding")


def domain(request: PageRequest) -> HttpResponse:
    """The checkout's own domain: what to put into the DNS, and what was found there. A POST looks
    again, or takes the domain off."""
    store = request.access.store
    if request.method == "POST" and store.checkout_domain:
        if request.POST.get("to") == "removed":
            domains.set_domain(store, "")
            messages.success(
                request, gettext("Domain removed. Payment links use our address again.")
            )
        elif domains.may_check(store, clock.real_now()):
            domains.check_domain(store, clock.real_now())
        else:
            messages.error(
                request, gettext("We just checked. Wait a minute before checking again.")
            )
        return go("settings_domain")
    name, text = domains.proof(store)
    context = {
        "store": store,
        "proof_name": name,
        "proof_text": text,
        "our_host": domains.our_host(),
    }
    if store.checkout_domain:
        context["example"] = f"{domains.base_url(store.checkout_domain)}/…"
    return show(request, "dashboard/settings/domain.html", context)


def change_domain(request: PageRequest) -> HttpResponse:
    store = request.access.store
    if request.method == "GET":
        return _domain_form(request, DomainForm({"domain": store.checkout_domain}))
    form = DomainForm.from_post(request.POST)
    try:
        domains.set_domain(store, form.values["domain"])
    except Refusals as refusal:
        return _domain_form(request, form.refuse(refusal))
    return go("settings_domain")


def _domain_form(request: PageRequest, form: Form) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "present": request.access.store.checkout_domain,
    }
    return show(request, "dashboard/settings/change_domain.html", context, status=form.status)


def _branding_form(request: PageRequest, form: Form) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "legibility": _legibility(request.access.store),
    }
    return show(request, "dashboard/settings/branding.html", context, status=form.status)


def _legibility(store: Store) -> Legibility | None:
    """None without a colour."""
    ground = looks.colour(store.primary_color)
    if not ground:
        return None
    ink = looks.ink_on(ground)
    return Legibility(
        "black" if ink == "#000000" else "white",
        f"{looks.contrast(ink, ground):.1f}".removesuffix(".0"),
        looks.contrast(ground, looks.WHITE) < CONTRAST_MIN,
    )
