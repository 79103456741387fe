/** The payment method: its settings, what settles a payment, and refunds. */
import type { ConfigArg } from "@vendure/common/lib/generated-types";
import { Injector, LanguageCode, Order, Payment, PaymentMethodHandler, RequestContext, TransactionalConnection } from "@vendure/core";
import { Tillgate } from "tillgate";
import type { PaymentDetail, Refund } from "tillgate";

export const CODE = "tillgate";
/** Payments that a refund is being made of: their refunds may not be written yet. */
export const refunding = new Set<string>();
let connection: TransactionalConnection;

function text(value: string) {
  return [{ languageCode: LanguageCode.en, value }];
}

/** Of a payment method's arguments, the client of its store. */
export function clientOf(args: readonly ConfigArg[] | { serverUrl: string; apiKey: string }): Tillgate {
  const named = Array.isArray(args) ? Object.fromEntries(args.map((one) => [one.name, one.value])) : args;
  return new Tillgate({ apiKey: named.apiKey, baseUrl: named.serverUrl });
}

/** Tells an order's payments from those of every other shop; new quotes have it, too. */
export function markOf(ctx: RequestContext, order: Order): string {
  return `${ctx.channel.token} ${order.code} ${order.id}`;
}

export function decimals(cents: number, currency: string): string {
  return currency === "JPY" ? String(cents / 100) : (cents / 100).toFixed(2);
}

/** Completed once, even if refunded since; or late, and accepted in full. */
export function isPaid(payment: PaymentDetail): boolean {
  const wasCompleted = payment.payment_events.some((event) => event.to_status === "completed");
  return wasCompleted || Number(payment.accepted_late_amount) >= Number(payment.settlement_amount);
}

/** Made for this order, with all that is to be paid. */
export function isAsked(ctx: RequestContext, payment: PaymentDetail, order: Order, cents: number): boolean {
  return (
    payment.metadata.vendure === markOf(ctx, order) &&
    payment.settlement_currency === order.currencyCode &&
    Math.round(Number(payment.settlement_amount) * 100) === cents
  );
}

/** Coins at the rate that was locked for the payment, in cents. */
export function worthOf(payment: PaymentDetail, refund: Refund): number {
  const paid = payment.payment_addresses.find((one) => one.supported_asset.asset_id === refund.asset_id);
  const cents = Math.round(Number(payment.settlement_amount) * 100);
  const share = Number(refund.amount_atomic) / Number(paid?.crypto_amount_atomic ?? refund.amount_atomic);
  return Math.min(cents, Math.round(cents * share));
}

export const tillgateHandler = new PaymentMethodHandler({
  code: CODE,
  description: text("Crypto payments (Tillgate)"),
  args: {
    serverUrl: { type: "string", required: true, label: text("Server address") },
    apiKey: { type: "string", required: true, label: text("Secret API key"), ui: { component: "password-form-input" } },
    signingSecret: {
      type: "string",
      required: true,
      label: text("Signing secret of the webhook"),
      ui: { component: "password-form-input" },
    },
  },
  init(injector: Injector) {
    connection = injector.get(TransactionalConnection);
  },

  /** Whoever adds the payment: it settles only if Tillgate says that it was paid, for this order. */
  async createPayment(ctx, order, amount, args, metadata) {
    const payment = await clientOf(args).payments.retrieve(String(metadata.id));
    if (!isPaid(payment) || !isAsked(ctx, payment, order, amount)) {
      return { amount, state: "Declined", errorMessage: "Tillgate has no such payment for this order" };
    }
    return { amount, state: "Settled", transactionId: payment.id, metadata: { reference: payment.reference } };
  },

  settlePayment: async () => ({ success: true }),

  /** The first refund of a payment is its last. One that was begun in Tillgate is recorded. */
  async createRefund(ctx, input, amount, order, payment, args) {
    const client = clientOf(args);
    const remote = await client.payments.retrieve(payment.transactionId);
    const rows = await connection.getEntityOrThrow(ctx, Payment, payment.id, { relations: ["refunds"] });
    const known = rows.refunds.map((one) => one.transactionId);
    const begun = await client.refunds.list(payment.transactionId).toArray({ limit: 100 });
    const found = begun.find((one) => one.status === "confirmed" && !known.includes(one.id));
    if (found) {
      const isSame = worthOf(remote, found) === amount;
      return isSame ? { state: "Settled", transactionId: found.id } : failed("Tillgate has refunded another amount");
    }
    refunding.add(payment.transactionId);
    try {
      const key = `vendure ${markOf(ctx, order)} ${payment.id} ${known.length}`;
      const fields = { settlement_amount: decimals(amount, order.currencyCode) };
      const [sent] = await client.refunds.create(payment.transactionId, fields, { idempotencyKey: key });
      if (sent === undefined || sent.refund_in_progress || known.includes(sent.id)) {
        return failed("Another refund of this payment is in progress");
      }
      const isSettled = await confirmsAtOnce(client, payment.transactionId, sent.id);
      return { state: isSettled ? "Settled" : "Pending", transactionId: sent.id };
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    } finally {
      setTimeout(() => refunding.delete(payment.transactionId), 5000).unref();
    }
  },
});

/** In test mode it does. Its event would be here before Vendure has written the refund. */
async function confirmsAtOnce(client: Tillgate, payment: string, id: string): Promise<boolean> {
  for (let second = 0; second < 5; second += 1) {
    const rows = await client.refunds.list(payment).toArray({ limit: 100 });
    if (rows.find((one) => one.id === id)?.status === "confirmed") return true;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  return false;
}

function failed(error: string) {
  return { state: "Failed" as const, metadata: { error } };
}
