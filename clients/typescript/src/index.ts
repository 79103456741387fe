import { Agent } from "./agent.js";
import {
  CreditNotes,
  Customers,
  DocumentSettings,
  Invoices,
  Prices,
  Products,
  Subscriptions,
  TaxRates,
  TaxSettings,
} from "./billing.js";
import { Platform } from "./platform.js";
import {
  Balances,
  Catalog,
  Checkout,
  Events,
  PaymentLinks,
  Payments,
  PayoutSchedules,
  Payouts,
  Refunds,
  Reports,
  RequestLog,
  Swaps,
  TestClock,
  WebhookEndpoints,
  X402,
} from "./resources.js";
import { Transport } from "./transport.js";
import type { Input, RequestOptions, TillgateOptions } from "./transport.js";
import type { Answer, OperationId } from "./types.js";

/** The API of one store in one mode, which the key decides. */
export class Tillgate {
  readonly #transport: Transport;
  readonly agent: Agent;
  readonly balances: Balances;
  readonly catalog: Catalog;
  readonly checkout: Checkout;
  readonly creditNotes: CreditNotes;
  readonly customers: Customers;
  readonly events: Events;
  readonly invoices: Invoices;
  readonly paymentLinks: PaymentLinks;
  readonly payments: Payments;
  readonly payouts: Payouts;
  readonly payoutSchedules: PayoutSchedules;
  readonly platform: Platform;
  readonly prices: Prices;
  readonly products: Products;
  readonly refunds: Refunds;
  readonly reports: Reports;
  readonly requestLog: RequestLog;
  readonly subscriptions: Subscriptions;
  readonly taxRates: TaxRates;
  readonly taxSettings: TaxSettings;
  readonly documentSettings: DocumentSettings;
  readonly swaps: Swaps;
  readonly testClock: TestClock;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly x402: X402;

  constructor(options: TillgateOptions) {
    const api = new Transport(options);
    this.#transport = api;
    this.agent = new Agent(api);
    this.balances = new Balances(api);
    this.catalog = new Catalog(api);
    this.checkout = new Checkout(api);
    this.creditNotes = new CreditNotes(api);
    this.customers = new Customers(api);
    this.events = new Events(api);
    this.invoices = new Invoices(api);
    this.paymentLinks = new PaymentLinks(api);
    this.payments = new Payments(api);
    this.payouts = new Payouts(api);
    this.payoutSchedules = new PayoutSchedules(api);
    this.platform = new Platform(api);
    this.prices = new Prices(api);
    this.products = new Products(api);
    this.refunds = new Refunds(api);
    this.reports = new Reports(api);
    this.requestLog = new RequestLog(api);
    this.subscriptions = new Subscriptions(api);
    this.taxRates = new TaxRates(api);
    this.taxSettings = new TaxSettings(api);
    this.documentSettings = new DocumentSettings(api);
    this.swaps = new Swaps(api);
    this.testClock = new TestClock(api);
    this.webhookEndpoints = new WebhookEndpoints(api);
    this.x402 = new X402(api);
  }

  /** Any operation by its name in the API description. */
  call<Id extends OperationId>(
    id: Id,
    input?: Input<Id>,
    options?: RequestOptions,
  ): Promise<Answer<Id>> {
    return this.#transport.call(id, input, options);
  }
}

export { signAmount } from "./amounts.js";
export type { SignedAmount } from "./amounts.js";
export { TillgateError } from "./errors.js";
export type { ErrorType } from "./errors.js";
export { Feed, List } from "./list.js";
export type { Page } from "./list.js";
export { VERSION } from "./transport.js";
export type { RequestOptions, TillgateOptions } from "./transport.js";
export type * from "./types.js";
export { WebhookVerificationError, verifyWebhook } from "./webhooks.js";
