/** What Tillgate says of a payment, in the terms of a payment session. */
import { MathBN } from "@medusajs/framework/utils";
import type { BigNumberInput } from "@medusajs/framework/types";
import { Tillgate } from "tillgate";
import type { PaymentDetail, PaymentRow, Refund } from "tillgate";

/** Of the provider, in medusa-config. */
export interface Options {
  baseUrl: string;
  apiKey: string;
  signingSecret: string;
}

/** What a payment session and its payment keep; the storefront reads `hosted_url`. */
export interface SessionData extends Record<string, unknown> {
  id: string;
  session_id: string;
  hosted_url: string;
  amount: string;
  currency: string;
  refunds: string[];
}

export function clientOf(options: Options): Tillgate {
  return new Tillgate({ apiKey: options.apiKey, baseUrl: options.baseUrl });
}

export function decimals(amount: BigNumberInput, currency: string): string {
  return MathBN.convert(amount).toFixed(currency.toUpperCase() === "JPY" ? 0 : 2);
}

/** The session that it was made for. New quotes have it, too. */
export function sessionOf(told: { metadata?: Record<string, unknown> }): string {
  return String(told.metadata?.medusa_session ?? "");
}

/** Completed once, even if refunded since; or late, and accepted in full. */
export function isPaid(payment: PaymentDetail): boolean {
  const wasCompleted = payment.payment_events.some((event) => event.to_status === "completed");
  return wasCompleted || Number(payment.accepted_late_amount) >= Number(payment.settlement_amount);
}

/** Made for this session, with all that is to be paid. */
export function isAsked(payment: PaymentRow, data: SessionData): boolean {
  const isSame = Number(payment.settlement_amount) === Number(data.amount);
  return isSame && payment.settlement_currency === data.currency && sessionOf(payment) === data.session_id;
}

/** The payment that pays a session: the first one, a new quote of it, or one that was paid late. */
export async function paidFor(client: Tillgate, data: SessionData): Promise<PaymentDetail | undefined> {
  for await (const row of client.payments.list({ order_id: data.session_id })) {
    if (!isAsked(row, data)) continue;
    const payment = await client.payments.retrieve(row.id);
    if (isPaid(payment)) return payment;
  }
  return undefined;
}

/** Coins at the rate that was locked for the payment, in its currency. */
export function worthOf(payment: PaymentDetail, refund: Refund): string {
  const paid = payment.payment_addresses.find((one) => one.supported_asset.asset_id === refund.asset_id);
  const total = Number(payment.settlement_amount);
  const share = Number(refund.amount_atomic) / Number(paid?.crypto_amount_atomic ?? refund.amount_atomic);
  return decimals(Math.min(total, total * share), payment.settlement_currency);
}
