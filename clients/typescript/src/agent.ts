import { List } from "./list.js";
import { Resource, first, paged } from "./resources.js";
import type { RequestOptions } from "./transport.js";
import type { Body, Fields, Query } from "./types.js";

/** What an agent may do with its credential (`svca_…`). */
export class Agent extends Resource {
  context(options?: RequestOptions) {
    return this.api.call("get_agentic_account", {}, options);
  }

  balances(filters: Query<"get_agentic_balances"> = {}, options?: RequestOptions) {
    return this.api.call("get_agentic_balances", { query: filters }, options);
  }

  exchangeRates(filters: Query<"get_agentic_exchange_rates"> = {}, options?: RequestOptions) {
    return this.api.call("get_agentic_exchange_rates", { query: filters }, options);
  }

  marketData(filters: Query<"get_agentic_market_data">, options?: RequestOptions) {
    return this.api.call("get_agentic_market_data", { query: filters }, options);
  }

  createPayment(fields: Fields<"post_agentic_payments", "payment_intent">, options?: RequestOptions) {
    return this.api.call("post_agentic_payments", { body: { payment_intent: fields } }, options);
  }

  retrievePayment(id: string, options?: RequestOptions) {
    return this.api.call("get_agentic_payments_id", { path: { id } }, options);
  }

  payments(filters: Query<"get_agentic_payments"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_agentic_payments", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }

  cancelPayment(id: string, options?: RequestOptions) {
    return this.api.call("post_agentic_payments_id_cancel", { path: { id } }, options);
  }

  createRefund(
    paymentId: string,
    fields: Body<"post_agentic_payments_id_refunds"> = {},
    options?: RequestOptions,
  ) {
    const path = { id: paymentId };
    return this.api.call("post_agentic_payments_id_refunds", { path, body: fields }, options);
  }

  refunds(paymentId: string, options?: RequestOptions) {
    const path = { id: paymentId };
    return new List(() => this.api.call("get_agentic_payments_id_refunds", { path }, options));
  }

  createPayout(fields: Body<"post_agentic_payouts">, options?: RequestOptions) {
    return this.api.call("post_agentic_payouts", { body: fields }, options);
  }

  retrievePayout(id: string, options?: RequestOptions) {
    return this.api.call("get_agentic_payouts_id", { path: { id } }, options);
  }

  payouts(filters: Query<"get_agentic_payouts"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_agentic_payouts", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }

  payoutLimits(filters: Query<"get_agentic_payout_limits"> = {}, options?: RequestOptions) {
    return this.api.call("get_agentic_payout_limits", { query: filters }, options);
  }

  tokens(options?: RequestOptions) {
    return this.api.call("get_agentic_tokens", {}, options);
  }

  changeToken(assetId: string, fields: Body<"patch_agentic_tokens_id">, options?: RequestOptions) {
    return this.api.call("patch_agentic_tokens_id", { path: { id: assetId }, body: fields }, options);
  }

  createMandate(fields: Body<"post_agentic_mandates">, options?: RequestOptions) {
    return this.api.call("post_agentic_mandates", { body: fields }, options);
  }

  retrieveMandate(id: string, options?: RequestOptions) {
    return this.api.call("get_agentic_mandates_id", { path: { id } }, options);
  }

  mandates(options?: RequestOptions) {
    return new List(() => this.api.call("get_agentic_mandates", {}, options));
  }

  createSettlement(fields: Body<"post_agentic_x402_settlements">, options?: RequestOptions) {
    return this.api.call("post_agentic_x402_settlements", { body: fields }, options);
  }

  retrieveSettlement(id: string, options?: RequestOptions) {
    return this.api.call("get_agentic_x402_settlements_id", { path: { id } }, options);
  }

  settlements(filters: Query<"get_agentic_x402_settlements"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_agentic_x402_settlements", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }
}
