"""The route table of billing: path, view, scope per method, budget."""

from apps.api.billing import (
    credit_notes,
    customers,
    deliveries,
    document_settings,
    hosted,
    invoices,
    products,
    subscriptions,
    taxes,
)
from apps.api.plumbing.routes import PDF, PUBLIC, PUBLIC_LINK, Route

READ = "billing:read"
WRITE = "billing:write"
GET = frozenset({"GET"})
POST = frozenset({"POST"})

ROUTES = [
    Route("billing/products", products.Products, {"GET": READ, "POST": WRITE}),
    Route("billing/products/<str:id>", products.ProductById, {"GET": READ, "PATCH": WRITE}),
    Route(
        "billing/products/<str:product_id>/prices", products.Prices, {"GET": READ, "POST": WRITE}
    ),
    Route("billing/products/<str:product_id>/prices/<str:id>", products.PriceById, {"GET": READ}),
    Route(
        "billing/products/<str:product_id>/prices/<str:id>/archive",
        products.ArchivePrice,
        {"POST": WRITE},
    ),
    Route(
        "billing/products/<str:product_id>/prices/<str:id>/activate",
        products.ActivatePrice,
        {"POST": WRITE},
    ),
    Route("billing/customers", customers.Customers, {"GET": READ, "POST": WRITE}),
    Route(
        "billing/customers/<str:id>",
        customers.CustomerById,
        {"GET": READ, "PATCH": WRITE, "DELETE": WRITE},
    ),
    Route("billing/customers/<str:id>/vat_checks", taxes.VatChecks, {"GET": READ, "POST": WRITE}),
    Route("billing/customers/<str:id>/credit", credit_notes.CustomerCredit, {"GET": READ}),
    Route(
        "billing/document_settings",
        document_settings.StoreDocumentSettings,
        {"GET": READ, "PATCH": WRITE},
    ),
    Route("billing/tax_rates", taxes.TaxRates, {"GET": READ, "POST": WRITE}),
    Route("billing/tax_rates/<str:id>", taxes.TaxRateById, {"GET": READ, "PATCH": WRITE}),
    Route("billing/tax_settings", taxes.StoreTaxSettings, {"GET": READ, "PATCH": WRITE}),
    Route("billing/subscriptions", subscriptions.Subscriptions, {"GET": READ, "POST": WRITE}),
    Route(
        "billing/subscriptions/<str:id>",
        subscriptions.SubscriptionById,
        {"GET": READ, "PATCH": WRITE},
    ),
    Route("billing/subscriptions/<str:id>/cancel", subscriptions.Cancel, {"POST": WRITE}),
    Route("billing/subscriptions/<str:id>/uncancel", subscriptions.Uncancel, {"POST": WRITE}),
    Route("billing/subscriptions/<str:id>/pause", subscriptions.Pause, {"POST": WRITE}),
    Route("billing/subscriptions/<str:id>/resume", subscriptions.Resume, {"POST": WRITE}),
    Route("billing/invoices", invoices.Invoices, {"GET": READ, "POST": WRITE}),
    Route(
        "billing/invoices/<str:id>",
        invoices.InvoiceById,
        {"GET": READ, "PATCH": WRITE, "DELETE": WRITE},
    ),
    Route("billing/invoices/<str:id>/pdf", invoices.InvoicePdf, {"GET": READ}, budget={"GET": PDF}),
    Route("billing/invoices/<str:id>/e_invoices", invoices.EInvoices, {"GET": READ}),
    Route("billing/invoices/<str:id>/e_invoices/<str:format>", invoices.EInvoiceXml, {"GET": READ}),
    Route(
        "billing/invoices/<str:id>/deliveries",
        deliveries.InvoiceDeliveries,
        {"GET": READ, "POST": WRITE},
    ),
    Route(
        "billing/invoices/<str:id>/credit_notes", credit_notes.InvoiceCreditNotes, {"POST": WRITE}
    ),
    Route("billing/credit_notes", credit_notes.CreditNotes, {"GET": READ}),
    Route("billing/credit_notes/<str:id>", credit_notes.CreditNoteById, {"GET": READ}),
    Route(
        "billing/credit_notes/<str:id>/pdf",
        credit_notes.CreditNotePdf,
        {"GET": READ},
        budget={"GET": PDF},
    ),
    Route(
        "billing/credit_notes/<str:id>/deliveries",
        deliveries.CreditNoteDeliveries,
        {"POST": WRITE},
    ),
    Route("billing/credit_notes/<str:id>/send", credit_notes.SendCreditNote, {"POST": WRITE}),
    Route(
        "billing/credit_notes/<str:id>/e_invoices/<str:format>",
        credit_notes.CreditNoteXml,
        {"GET": READ},
    ),
    Route("billing/invoices/<str:id>/finalize", invoices.Finalize, {"POST": WRITE}),
    Route("billing/invoices/<str:id>/send", invoices.Send, {"POST": WRITE}),
    Route("billing/invoices/<str:id>/void", invoices.Void, {"POST": WRITE}),
    Route(
        "billing/invoices/<str:id>/mark_uncollectible", invoices.MarkUncollectible, {"POST": WRITE}
    ),
    Route(
        "billing/invoice/<str:token>",
        hosted.HostedInvoiceView,
        {"GET": PUBLIC},
        budget={"GET": PUBLIC_LINK},
        cors=GET,
    ),
    Route(
        "billing/invoice/<str:token>/payment_intent",
        hosted.StartPayment,
        {"POST": PUBLIC},
        budget={"POST": PUBLIC_LINK},
        cors=POST,
    ),
]
