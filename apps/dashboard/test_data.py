"""The page on which an owner resets the store's test data: what goes, with counts, and what
stays."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.billing.models import Customer, Invoice, Price, Product, Subscription
from apps.core.models import Mode
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.links.models import PaymentLink
from apps.payments.models import Payment, Refund
from apps.payouts.models import Destination, Payout, Schedule
from apps.platforms.services import test_data
from apps.stores.models import Store
from apps.swaps.models import Swap
from apps.webhooks.models import Event

# What people call each kind of record that goes.
_GOES = (
    (_("Payments"), Payment),
    (_("Refunds"), Refund),
    (_("Payment links"), PaymentLink),
    (_("Customers"), Customer),
    (_("Products"), Product),
    (_("Prices"), Price),
    (_("Invoices"), Invoice),
    (_("Subscriptions"), Subscription),
    (_("Payouts"), Payout),
    (_("Payout destinations"), Destination),
    (_("Payout schedules"), Schedule),
    (_("Swaps"), Swap),
    (_("Events"), Event),
)


def index(request: PageRequest) -> HttpResponse:
    form = Form({})
    access = request.access
    if request.method == "POST":
        rows = [(gettext("Removed"), gettext("All test data"))]
        try:
            confirmation = confirming.ask_about_form(
                request, rows, lambda: test_data.ask_reset(request.access)
            )
            if confirmation is not None:
                return confirmation
            test_data.ask_reset(request.access)
        except Refusals as refusal:
            form.refuse(refusal)
        else:
            messages.success(
                request,
                gettext("The test data is being reset. Test mode is back in about a minute."),
            )
            return go("test_data")
    is_live = access.mode == Mode.LIVE
    context = {
        "errors": form.common_errors,
        "is_of_platform": access.store.platform_id is not None,
        "goes": []
        if is_live
        else [(gettext(words), model.objects.visible_to(access).count()) for words, model in _GOES],
        "account_count": Store.objects.filter(platform=access.store).count(),
    }
    return show(request, "dashboard/test_data/page.html", context, status=form.status)
