"""Public registers in which staff look a business up, by its country."""

from urllib.parse import quote

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.core.text.vat_numbers import EU, vat_country
from apps.stores.models import Verification

# Country -> (what it is called, its address; {name} is what is looked for).
_REGISTERS = {
    "AT": ("Firmenbuch", "https://justizonline.gv.at/jop/web/firmenbuchabfrage"),
    "CH": ("Zefix", "https://www.zefix.ch/"),
    "DE": ("Handelsregister", "https://www.handelsregister.de/"),
    "FR": (
        "Annuaire des Entreprises",
        "https://annuaire-entreprises.data.gouv.fr/rechercher?terme={name}",
    ),
    "GB": (
        "Companies House",
        "https://find-and-update.company-information.service.gov.uk/search?q={name}",
    ),
    "NL": ("KVK", "https://www.kvk.nl/zoeken/"),
    "US": ("SEC EDGAR", "https://www.sec.gov/edgar/search/"),
}
_EVERYWHERE = ("OpenCorporates", "https://opencorporates.com/companies?q={name}")
_VAT = ("VAT numbers (VIES)", "https://ec.europa.eu/taxation_customs/vies/")


def links_of(row: Verification) -> SafeString:
    """To the register of its country, one of all countries, and the one of VAT numbers."""
    own = _REGISTERS.get(row.business_country)
    chosen = [place for place in (own, _EVERYWHERE) if place is not None]
    if row.tax_id and vat_country(row.business_country) in EU:
        chosen.append(_VAT)
    name = quote(row.business_legal_name, safe="")
    links = format_html_join(
        " ",
        '<a href="{}" rel="noreferrer noopener" target="_blank">{}</a>',
        ((address.format(name=name), title) for title, address in chosen),
    )
    return format_html('<span class="ways">{}</span>', links)
