import { Feed, List } from "./list.js";
import type { RequestOptions, Transport } from "./transport.js";
import type { Body, Fields, Query } from "./types.js";

const PER_PAGE = 100;

class Resource {
  constructor(protected readonly api: Transport) {}
}

/** What pages of a hundred are asked for with, unless the caller says otherwise. */
function paged<Filters extends object>(filters: Filters, page: number): Filters & { page: number } {
  return { per_page: PER_PAGE, ...filters, page };
}

/** A feed goes on from the record that it read last. */
function older<Filters extends object>(filters: Filters, before?: string): Filters {
  return { per_page: PER_PAGE, ...filters, ...(before === undefined ? {} : { before }) };
}

function first(filters: { page?: number }): number {
  return filters.page ?? 1;
}

export class Payments extends Resource {
  /** Create a payment and send the customer to its `hosted_url`. */
  create(fields: Fields<"post_payments", "payment_intent">, options?: RequestOptions) {
    return this.api.call("post_payments", { body: { payment_intent: fields } }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_payments_id", { path: { id } }, options);
  }

  list(filters: Query<"get_payments"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_payments", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }

  summary(range: Query<"get_payments_summary"> = {}, options?: RequestOptions) {
    return this.api.call("get_payments_summary", { query: range }, options);
  }

  /** Its history, oldest first. */
  events(id: string, options?: RequestOptions) {
    return new List(() => this.api.call("get_payments_id_events", { path: { id } }, options));
  }

  /** A PDF. */
  invoice(id: string, options?: RequestOptions) {
    return this.api.download("get_payments_id_invoice", { path: { id } }, options);
  }

  reconciliation(id: string, options?: RequestOptions) {
    return this.api.call("get_payment_intents_id_reconciliation", { path: { id } }, options);
  }

  /** Takes what has arrived for less than was due. Repeating it changes nothing. */
  acceptShortfall(id: string, options?: RequestOptions) {
    return this.api.call("post_payments_id_accept_shortfall", { path: { id } }, options);
  }

  /** Accepts what came late or in another coin, by its transaction's hash. Repeating it changes nothing. */
  acceptTransaction(id: string, fields: Body<"post_payments_id_accept_transaction">, options?: RequestOptions) {
    return this.api.call("post_payments_id_accept_transaction", { path: { id }, body: fields }, options);
  }

  /** Calls off a payment that nothing has come for. */
  cancel(id: string, options?: RequestOptions) {
    return this.api.call("post_payments_id_cancel", { path: { id } }, options);
  }

  /** More time for an open payment that money has arrived for. */
  extend(id: string, fields: Body<"post_payments_id_extend"> = {}, options?: RequestOptions) {
    return this.api.call("post_payments_id_extend", { path: { id }, body: fields }, options);
  }

  /** Test mode: a deposit without coins. */
  simulate(
    id: string,
    fields: Fields<"post_payments_id_simulated_payments", "simulated_payment"> = {},
    options?: RequestOptions,
  ) {
    const body = { simulated_payment: fields };
    return this.api.call("post_payments_id_simulated_payments", { path: { id }, body }, options);
  }

  /** Test mode: the service's own wallet pays on the test chain. */
  payFromTestWallet(
    id: string,
    fields: Fields<"post_payments_id_test_payments", "test_payment"> = {},
    options?: RequestOptions,
  ) {
    const body = { test_payment: fields };
    return this.api.call("post_payments_id_test_payments", { path: { id }, body }, options);
  }
}

/** Pages that any number of customers pay at. */
export class PaymentLinks extends Resource {
  create(fields: Fields<"post_payment_links", "payment_link">, options?: RequestOptions) {
    return this.api.call("post_payment_links", { body: { payment_link: fields } }, options);
  }

  /** With what it has brought. */
  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_payment_links_id", { path: { id } }, options);
  }

  update(id: string, fields: Fields<"patch_payment_links_id", "payment_link">, options?: RequestOptions) {
    const body = { payment_link: fields };
    return this.api.call("patch_payment_links_id", { path: { id }, body }, options);
  }

  list(filters: Query<"get_payment_links"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_payment_links", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }

  /** Nobody begins to pay at it; who has begun may finish. */
  pause(id: string, options?: RequestOptions) {
    return this.api.call("post_payment_links_id_pause", { path: { id } }, options);
  }

  resume(id: string, options?: RequestOptions) {
    return this.api.call("post_payment_links_id_resume", { path: { id } }, options);
  }

  /** For good; its payments stay. */
  archive(id: string, options?: RequestOptions) {
    return this.api.call("post_payment_links_id_archive", { path: { id } }, options);
  }

  /** HTML for a website. */
  button(id: string, looks: Query<"get_payment_links_id_button"> = {}, options?: RequestOptions) {
    return this.api.call("get_payment_links_id_button", { path: { id }, query: looks }, options);
  }
}

export class Refunds extends Resource {
  /** Without fields everything goes back to the address it came from. */
  create(
    paymentId: string,
    fields: Fields<"post_payments_id_refunds", "refund"> = {},
    options?: RequestOptions,
  ) {
    const path = { id: paymentId };
    return this.api.call("post_payments_id_refunds", { path, body: { refund: fields } }, options);
  }

  list(paymentId: string, options?: RequestOptions) {
    const path = { id: paymentId };
    return new List(() => this.api.call("get_payments_id_refunds", { path }, options));
  }
}

export class Payouts extends Resource {
  create(fields: Body<"post_payouts">, options?: RequestOptions) {
    return this.api.call("post_payouts", { body: fields }, options);
  }

  quote(fields: Body<"post_payouts_quote">, options?: RequestOptions) {
    return this.api.call("post_payouts_quote", { body: fields }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_payouts_id", { path: { id } }, options);
  }

  list(filters: Query<"get_payouts"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_payouts", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }

  retry(id: string, options?: RequestOptions) {
    return this.api.call("post_payouts_id_retry", { path: { id } }, options);
  }
}

export class PayoutSchedules extends Resource {
  create(fields: Fields<"post_payout_schedules", "payout_schedule">, options?: RequestOptions) {
    return this.api.call("post_payout_schedules", { body: { payout_schedule: fields } }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_payout_schedules_id", { path: { id } }, options);
  }

  update(
    id: string,
    fields: Fields<"patch_payout_schedules_id", "payout_schedule">,
    options?: RequestOptions,
  ) {
    const body = { payout_schedule: fields };
    return this.api.call("patch_payout_schedules_id", { path: { id }, body }, options);
  }

  delete(id: string, options?: RequestOptions) {
    return this.api.call("delete_payout_schedules_id", { path: { id } }, options);
  }

  list(options?: RequestOptions) {
    return new List(() => this.api.call("get_payout_schedules", {}, options));
  }

  /** Evaluate it now; `triggered` tells whether it paid out. */
  run(id: string, options?: RequestOptions) {
    return this.api.call("post_payout_schedules_id_run", { path: { id } }, options);
  }
}

export class Swaps extends Resource {
  create(fields: Body<"post_balance_swaps">, options?: RequestOptions) {
    return this.api.call("post_balance_swaps", { body: fields }, options);
  }

  quote(fields: Body<"post_balance_swaps_quote">, options?: RequestOptions) {
    return this.api.call("post_balance_swaps_quote", { body: fields }, options);
  }

  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_balance_swaps_id", { path: { id } }, options);
  }

  list(filters: Query<"get_balance_swaps"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_balance_swaps", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }
}

/** A report that is still being made has the status `pending`: ask again until it is `generated`. */
export class Reports extends Resource {
  accountingTransactions(
    query: Query<"get_reports_accounting_transactions">,
    options?: RequestOptions,
  ) {
    return this.api.call("get_reports_accounting_transactions", { query }, options);
  }

  merchantStatement(query: Query<"get_reports_merchant_statement">, options?: RequestOptions) {
    return this.api.call("get_reports_merchant_statement", { query }, options);
  }

  /** Taxes of invoices less credit notes, by month, country, category and rate. */
  taxReport(query: Query<"get_reports_tax_report">, options?: RequestOptions) {
    return this.api.call("get_reports_tax_report", { query }, options);
  }

  /** The latest reports, and the last day that one may end on. */
  latest(options?: RequestOptions) {
    return this.api.call("get_reports", {}, options);
  }
}

export class WebhookEndpoints extends Resource {
  /** The answer has the `signing_secret`, which isn't shown again. */
  create(fields: Fields<"post_webhook_endpoints", "webhook_endpoint">, options?: RequestOptions) {
    return this.api.call("post_webhook_endpoints", { body: { webhook_endpoint: fields } }, options);
  }

  /** With its latest deliveries. */
  retrieve(id: string, options?: RequestOptions) {
    return this.api.call("get_webhook_endpoints_id", { path: { id } }, options);
  }

  update(
    id: string,
    fields: Fields<"patch_webhook_endpoints_id", "webhook_endpoint">,
    options?: RequestOptions,
  ) {
    const body = { webhook_endpoint: fields };
    return this.api.call("patch_webhook_endpoints_id", { path: { id }, body }, options);
  }

  delete(id: string, options?: RequestOptions) {
    return this.api.call("delete_webhook_endpoints_id", { path: { id } }, options);
  }

  list(filters: Query<"get_webhook_endpoints"> = {}, options?: RequestOptions) {
    return new List(() => this.api.call("get_webhook_endpoints", { query: filters }, options));
  }

  enable(id: string, options?: RequestOptions) {
    return this.api.call("patch_webhook_endpoints_id_enable", { path: { id } }, options);
  }

  disable(id: string, options?: RequestOptions) {
    return this.api.call("patch_webhook_endpoints_id_disable", { path: { id } }, options);
  }

  /** The old secret ends at once. */
  rotateSecret(id: string, options?: RequestOptions) {
    return this.api.call("post_webhook_endpoints_id_rotate_secret", { path: { id } }, options);
  }

  sendTest(
    id: string,
    fields: Body<"post_webhook_endpoints_id_send_test"> = {},
    options?: RequestOptions,
  ) {
    return this.api.call("post_webhook_endpoints_id_send_test", { path: { id }, body: fields }, options);
  }

  redeliver(id: string, deliveryId: string, options?: RequestOptions) {
    const body = { delivery_id: deliveryId };
    return this.api.call("post_webhook_endpoints_id_redeliver", { path: { id }, body }, options);
  }

  /** Everything that hasn't reached the endpoint; without `since` of the last 30 days. */
  resendMissed(
    id: string,
    fields: Body<"post_webhook_endpoints_id_resend_missed"> = {},
    options?: RequestOptions,
  ) {
    const request = { path: { id }, body: fields };
    return this.api.call("post_webhook_endpoints_id_resend_missed", request, options);
  }
}

/** What webhooks tell, for whoever can't be called. */
export class Events extends Resource {
  list(filters: Query<"get_events"> = {}, options?: RequestOptions) {
    return new Feed((before) =>
      this.api.call("get_events", { query: older(filters, before) }, options),
    );
  }
}

/** The calls that your store's credentials made. */
export class RequestLog extends Resource {
  list(filters: Query<"get_request_log"> = {}, options?: RequestOptions) {
    return new Feed((before) =>
      this.api.call("get_request_log", { query: older(filters, before) }, options),
    );
  }
}

/** Test mode: the time of your store. */
export class TestClock extends Resource {
  retrieve(options?: RequestOptions) {
    return this.api.call("get_test_clock", {}, options);
  }

  advance(fields: Body<"post_test_clock_advance">, options?: RequestOptions) {
    return this.api.call("post_test_clock_advance", { body: fields }, options);
  }
}

/** What the hosted page reads; it takes no key. */
export class Checkout extends Resource {
  retrieve(reference: string, options?: RequestOptions) {
    return this.api.call("get_checkout_reference", { path: { reference } }, options);
  }

  cardMethods(
    reference: string,
    query: Query<"get_checkout_reference_onramp_payment_methods"> = {},
    options?: RequestOptions,
  ) {
    const path = { reference };
    return this.api.call("get_checkout_reference_onramp_payment_methods", { path, query }, options);
  }

  createCardSession(
    reference: string,
    fields: Body<"post_checkout_reference_onramp_sessions">,
    options?: RequestOptions,
  ) {
    const path = { reference };
    return this.api.call("post_checkout_reference_onramp_sessions", { path, body: fields }, options);
  }
}

/** x402: the service as the facilitator of your own store. */
export class X402 extends Resource {
  requirements(fields: Body<"post_x402_requirements">, options?: RequestOptions) {
    return this.api.call("post_x402_requirements", { body: fields }, options);
  }

  /** One price in several assets; nothing is recorded before somebody signs. */
  offers(fields: Body<"post_x402_offers">, options?: RequestOptions) {
    return this.api.call("post_x402_offers", { body: fields }, options);
  }

  supported(options?: RequestOptions) {
    return this.api.call("get_x402_supported", {}, options);
  }

  verify(fields: Body<"post_x402_verify">, options?: RequestOptions) {
    return this.api.call("post_x402_verify", { body: fields }, options);
  }

  settle(fields: Body<"post_x402_settle">, options?: RequestOptions) {
    return this.api.call("post_x402_settle", { body: fields }, options);
  }
}

export class Catalog extends Resource {
  currencies(options?: RequestOptions) {
    return new List(() => this.api.call("get_payment_currencies", {}, options));
  }

  assets(options?: RequestOptions) {
    return new List(() => this.api.call("get_supported_assets", {}, options));
  }
}

export class Balances extends Resource {
  retrieve(options?: RequestOptions) {
    return this.api.call("get_balances", {}, options);
  }
}

export { Resource, first, paged };
