import { List } from "./list.js";
import { Resource, first, paged } from "./resources.js";
import type { RequestOptions } from "./transport.js";
import type { Body, Fields, Query } from "./types.js";

// Billing takes no idempotency keys: look before you create again.

export class Customers extends Resource {
  /** What was paid beyond what was owed, by currency. */
  credit(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_customers_id_credit", { path: { id } }, options);
  }

  create(fields: Fields<"post_billing_customers", "customer">, options?: RequestOptions) {
    return this.api.call("post_billing_customers", { body: { customer: fields } }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_customers_id", { path: { id } }, options);
  }

  update(id: string, fields: Fields<"patch_billing_customers_id", "customer">, options?: RequestOptions) {
    const body = { customer: fields };
    return this.api.call("patch_billing_customers_id", { path: { id }, body }, options);
  }

  delete(id: string, options?: RequestOptions) {
    return this.api.call("delete_billing_customers_id", { path: { id } }, options);
  }

  /** Asks the registry of the EU; the answer is kept. */
  checkVatNumber(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_customers_id_vat_checks", { path: { id } }, options);
  }

  listVatChecks(id: string, options?: RequestOptions) {
    return new List(() => this.api.call("get_billing_customers_id_vat_checks", { path: { id } }, options));
  }

  list(filters: Query<"get_billing_customers"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_billing_customers", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }
}

export class TaxRates extends Resource {
  create(fields: Fields<"post_billing_tax_rates", "tax_rate">, options?: RequestOptions) {
    return this.api.call("post_billing_tax_rates", { body: { tax_rate: fields } }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_tax_rates_id", { path: { id } }, options);
  }

  update(id: string, fields: Fields<"patch_billing_tax_rates_id", "tax_rate">, options?: RequestOptions) {
    const body = { tax_rate: fields };
    return this.api.call("patch_billing_tax_rates_id", { path: { id }, body }, options);
  }

  list(options?: RequestOptions) {
    return new List(() => this.api.call("get_billing_tax_rates", {}, options));
  }
}

export class TaxSettings extends Resource {
  retrieve(options?: RequestOptions) {
    return this.api.call("get_billing_tax_settings", {}, options);
  }

  update(fields: Fields<"patch_billing_tax_settings", "tax_settings">, options?: RequestOptions) {
    return this.api.call("patch_billing_tax_settings", { body: { tax_settings: fields } }, options);
  }
}

export class DocumentSettings extends Resource {
  retrieve(options?: RequestOptions) {
    return this.api.call("get_billing_document_settings", {}, options);
  }

  update(
    fields: Fields<"patch_billing_document_settings", "document_settings">,
    options?: RequestOptions,
  ) {
    const body = { document_settings: fields };
    return this.api.call("patch_billing_document_settings", { body }, options);
  }
}

export class Products extends Resource {
  create(fields: Fields<"post_billing_products", "product">, options?: RequestOptions) {
    return this.api.call("post_billing_products", { body: { product: fields } }, options);
  }

  /** With its prices. */
  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_products_id", { path: { id } }, options);
  }

  update(id: string, fields: Fields<"patch_billing_products_id", "product">, options?: RequestOptions) {
    const body = { product: fields };
    return this.api.call("patch_billing_products_id", { path: { id }, body }, options);
  }

  list(filters: Query<"get_billing_products"> = {}, options?: RequestOptions) {
    return new List(() => this.api.call("get_billing_products", { query: filters }, options));
  }
}

/** Prices belong to a product; an amount never changes, another amount is another price. */
export class Prices extends Resource {
  create(
    productId: string,
    fields: Fields<"post_billing_products_product_id_prices", "price">,
    options?: RequestOptions,
  ) {
    const path = { product_id: productId };
    const body = { price: fields };
    return this.api.call("post_billing_products_product_id_prices", { path, body }, options);
  }

  retrieve(productId: string, id: string, options?: RequestOptions) {
    const path = { product_id: productId, id };
    return this.api.call("get_billing_products_product_id_prices_id", { path }, options);
  }

  list(productId: string, options?: RequestOptions) {
    const path = { product_id: productId };
    return new List(() => this.api.call("get_billing_products_product_id_prices", { path }, options));
  }

  activate(productId: string, id: string, options?: RequestOptions) {
    const path = { product_id: productId, id };
    return this.api.call("post_billing_products_product_id_prices_id_activate", { path }, options);
  }

  archive(productId: string, id: string, options?: RequestOptions) {
    const path = { product_id: productId, id };
    return this.api.call("post_billing_products_product_id_prices_id_archive", { path }, options);
  }
}

export class CreditNotes extends Resource {
  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_credit_notes_id", { path: { id } }, options);
  }

  /** Newest first. */
  list(filters: Query<"get_billing_credit_notes"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_billing_credit_notes", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }

  pdf(id: string, options?: RequestOptions) {
    return this.api.download("get_billing_credit_notes_id_pdf", { path: { id } }, options);
  }

  /** E-mails the document to the customer. */
  send(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_credit_notes_id_send", { path: { id } }, options);
  }

  /** Sends it to its buyer through a network, once however often it is asked for. */
  deliver(
    id: string,
    fields: Fields<"post_billing_credit_notes_id_deliveries", "delivery"> = {},
    options?: RequestOptions,
  ) {
    const body = { delivery: fields };
    return this.api.call("post_billing_credit_notes_id_deliveries", { path: { id }, body }, options);
  }

  /** XML in one of the formats of e-invoices. */
  eInvoice(id: string, format: string, options?: RequestOptions) {
    const path = { id, format };
    return this.api.download("get_billing_credit_notes_id_e_invoices_format", { path }, options);
  }
}

export class Invoices extends Resource {
  create(fields: Fields<"post_billing_invoices", "invoice">, options?: RequestOptions) {
    return this.api.call("post_billing_invoices", { body: { invoice: fields } }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_invoices_id", { path: { id } }, options);
  }

  /** Drafts only. */
  update(id: string, fields: Fields<"patch_billing_invoices_id", "invoice">, options?: RequestOptions) {
    return this.api.call("patch_billing_invoices_id", { path: { id }, body: { invoice: fields } }, options);
  }

  /** Drafts only. */
  delete(id: string, options?: RequestOptions) {
    return this.api.call("delete_billing_invoices_id", { path: { id } }, options);
  }

  list(filters: Query<"get_billing_invoices"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_billing_invoices", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }

  /** Gives it the next number and a `hosted_url`, and locks it. */
  finalize(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_invoices_id_finalize", { path: { id } }, options);
  }

  /** Email it to the customer. */
  send(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_invoices_id_send", { path: { id } }, options);
  }

  void(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_invoices_id_void", { path: { id } }, options);
  }

  markUncollectible(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_invoices_id_mark_uncollectible", { path: { id } }, options);
  }

  /** Takes back an amount of a closed invoice, or all that is left. */
  credit(
    id: string,
    fields: Fields<"post_billing_invoices_id_credit_notes", "credit_note"> = {},
    options?: RequestOptions,
  ) {
    const body = { credit_note: fields };
    return this.api.call("post_billing_invoices_id_credit_notes", { path: { id }, body }, options);
  }

  /** Sends it to its buyer through a network, once however often it is asked for. */
  deliver(
    id: string,
    fields: Fields<"post_billing_invoices_id_deliveries", "delivery"> = {},
    options?: RequestOptions,
  ) {
    const body = { delivery: fields };
    return this.api.call("post_billing_invoices_id_deliveries", { path: { id }, body }, options);
  }

  /** Those of its credit notes too, newest first. */
  deliveries(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_invoices_id_deliveries", { path: { id } }, options);
  }

  /** A PDF. */
  pdf(id: string, options?: RequestOptions) {
    return this.api.download("get_billing_invoices_id_pdf", { path: { id } }, options);
  }

  /** The formats, and what the invoice is missing for each. */
  eInvoiceFormats(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_invoices_id_e_invoices", { path: { id } }, options);
  }

  /** XML in one of these formats. */
  eInvoice(id: string, format: string, options?: RequestOptions) {
    const path = { id, format };
    return this.api.download("get_billing_invoices_id_e_invoices_format", { path }, options);
  }

  /** By the token in its `hosted_url`; it takes no key. */
  retrieveHosted(token: string, options?: RequestOptions) {
    return this.api.call("get_billing_invoice_token", { path: { token } }, options);
  }

  /** The payment of a hosted invoice; it takes no key. */
  payHosted(token: string, options?: RequestOptions) {
    return this.api.call("post_billing_invoice_token_payment_intent", { path: { token } }, options);
  }
}

export class Subscriptions extends Resource {
  create(fields: Fields<"post_billing_subscriptions", "subscription">, options?: RequestOptions) {
    return this.api.call("post_billing_subscriptions", { body: { subscription: fields } }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_billing_subscriptions_id", { path: { id } }, options);
  }

  /** Counts from the next cycle on. */
  update(
    id: string,
    fields: Fields<"patch_billing_subscriptions_id", "subscription">,
    options?: RequestOptions,
  ) {
    const body = { subscription: fields };
    return this.api.call("patch_billing_subscriptions_id", { path: { id }, body }, options);
  }

  list(filters: Query<"get_billing_subscriptions"> = {}, options?: RequestOptions) {
    return new List(() => this.api.call("get_billing_subscriptions", { query: filters }, options));
  }

  cancel(
    id: string,
    fields: Body<"post_billing_subscriptions_id_cancel"> = {},
    options?: RequestOptions,
  ) {
    return this.api.call("post_billing_subscriptions_id_cancel", { path: { id }, body: fields }, options);
  }

  uncancel(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_subscriptions_id_uncancel", { path: { id } }, options);
  }

  pause(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_subscriptions_id_pause", { path: { id } }, options);
  }

  resume(id: string, options?: RequestOptions) {
    return this.api.call("post_billing_subscriptions_id_resume", { path: { id } }, options);
  }
}
