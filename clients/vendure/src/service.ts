/** Orders become what their payments in Tillgate are. Events only say which one to read: they come twice, late and out of order. */
import { Injectable } from "@nestjs/common";
import {
  ChannelService,
  EntityHydrator,
  Logger,
  Order,
  OrderService,
  PaymentMethod,
  PaymentMethodService,
  RequestContext,
  RequestContextService,
  TransactionalConnection,
  isGraphQlErrorResult,
} from "@vendure/core";
import { Tillgate, TillgateError } from "tillgate";
import type { PaymentDetail, PaymentRow, Refund, WebhookEvent } from "tillgate";
import { CODE, clientOf, decimals, isAsked, isPaid, markOf, refunding, worthOf } from "./handler";

const OVERLAP_SECONDS = 30;
const LOCKING = ["postgres", "mysql", "mariadb"];

/** What isn't written yet is asked for again. */
export class TooEarly extends Error {}

@Injectable()
export class TillgateService {
  private readonly turns = new Map<string, Promise<void>>();
  private readonly known = new Map<string, number>();

  constructor(
    private connection: TransactionalConnection,
    private orders: OrderService,
    private methods: PaymentMethodService,
    private channels: ChannelService,
    private contexts: RequestContextService,
    private hydrator: EntityHydrator,
  ) {}

  contextOf(channelToken: string): Promise<RequestContext> {
    return this.contexts.create({ apiType: "admin", channelOrToken: channelToken });
  }

  async methodOf(ctx: RequestContext): Promise<PaymentMethod | undefined> {
    const active = await this.methods.getActivePaymentMethods(ctx);
    return active.find((one) => one.handler.code === CODE);
  }

  /** Where the customer of the active order pays; the same page as long as it can be paid. */
  async pay(ctx: RequestContext, order: Order, returnUrl?: string): Promise<string> {
    const method = await this.methodOf(ctx);
    if (!method) throw new Error("No payment method uses Tillgate");
    if (order.state !== "ArrangingPayment") {
      const moved = await this.orders.transitionToState(ctx, order.id, "ArrangingPayment");
      if (isGraphQlErrorResult(moved)) throw new Error(moved.transitionError);
    }
    const client = clientOf(method.handler.args);
    const earlier = await client.payments.list({ order_id: order.code }).toArray({ limit: 100 });
    const amount = decimals(order.totalWithTax, order.currencyCode);
    const mark = markOf(ctx, order);
    const isSame = (one: PaymentRow) => one.settlement_amount === amount && one.settlement_currency === order.currencyCode;
    const open = earlier.find((one) => one.metadata.vendure === mark && !one.terminal && isSame(one));
    if (open) return open.hosted_url;
    const made = await client.payments.create(
      {
        amount,
        currency: order.currencyCode as "EUR",
        order_id: order.code,
        title: `Order ${order.code}`,
        metadata: { vendure: mark, customer_email: order.customer?.emailAddress ?? "" },
        ...(returnUrl ? { success_url: returnUrl, failed_url: returnUrl } : {}),
      },
      { idempotencyKey: `vendure ${mark} ${amount} ${earlier.length}` },
    );
    return made.hosted_url;
  }

  /** Other events, and payments of others, are none of this shop's. */
  async followEvent(ctx: RequestContext, client: Tillgate, event: WebhookEvent): Promise<void> {
    const told = event.data.object as { payment_intent_id?: string; metadata?: Record<string, unknown> };
    const mark = String(told.metadata?.vendure ?? "");
    if (!told.payment_intent_id || !mark.startsWith(`${ctx.channel.token} `)) return;
    await this.inTurn(mark, () => this.follow(ctx, client, told.payment_intent_id!));
  }

  /** Everything since the newest event known, in the way of deliveries. */
  async catchUp(): Promise<void> {
    const { items } = await this.channels.findAll(RequestContext.empty());
    for (const { token } of items) {
      try {
        await this.catchUpWith(await this.contextOf(token));
      } catch (error) {
        Logger.error(`Channel ${token} couldn't catch up: ${String(error)}`, "Tillgate");
      }
    }
  }

  private async catchUpWith(ctx: RequestContext): Promise<void> {
    const method = await this.methodOf(ctx);
    if (!method) return;
    const client = clientOf(method.handler.args);
    const began = Date.now() / 1000 - 7 * 86400;
    const known = this.known.get(ctx.channel.token) ?? began;
    const missed: WebhookEvent[] = [];
    for await (const event of client.events.list({ per_page: 100 })) {
      if (event.created < known - OVERLAP_SECONDS) break;
      missed.push(event as WebhookEvent);
    }
    for (const event of [...missed].reverse()) await this.followEvent(ctx, client, event);
    if (missed[0]) this.known.set(ctx.channel.token, missed[0].created);
  }

  /** An order that was canceled can't be paid any more, unless something has come already. */
  async cancel(ctx: RequestContext, order: Order): Promise<void> {
    const method = await this.methodOf(ctx);
    if (!method) return;
    const client = clientOf(method.handler.args);
    for await (const one of client.payments.list({ order_id: order.code, status: "pending" })) {
      if (one.metadata.vendure !== markOf(ctx, order)) continue;
      try {
        await client.payments.cancel(one.id);
      } catch (error) {
        if (!(error instanceof TillgateError)) throw error;
        Logger.warn(`Payment ${one.reference} stays open: ${error.message}`, "Tillgate");
      }
    }
  }

  private async inTurn(mark: string, act: () => Promise<void>): Promise<void> {
    const before = this.turns.get(mark) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(act);
    this.turns.set(mark, turn);
    try {
      await turn;
    } finally {
      if (this.turns.get(mark) === turn) this.turns.delete(mark);
    }
  }

  private async follow(ctx: RequestContext, client: Tillgate, id: string): Promise<void> {
    const remote = await client.payments.retrieve(id);
    const [, code = ""] = String(remote.metadata.vendure).split(" ");
    await this.connection.withTransaction(ctx, async (tx) => {
      const order = await this.orders.findOneByCode(tx, code);
      if (!order || markOf(tx, order) !== remote.metadata.vendure) return;
      if (LOCKING.includes(this.connection.rawConnection.options.type)) {
        const mode = "pessimistic_write" as const;
        await this.connection.getRepository(tx, Order).findOne({ where: { id: order.id }, lock: { mode }, loadEagerRelations: false });
      }
      await this.hydrator.hydrate(tx, order, { relations: ["payments", "payments.refunds"] });
      if (isPaid(remote)) await this.settle(tx, order, remote);
      await this.bringRefunds(tx, order, remote, await client.refunds.list(id).toArray({ limit: 100 }));
    });
  }

  private async settle(tx: RequestContext, order: Order, remote: PaymentDetail): Promise<void> {
    if (order.payments.some((one) => one.transactionId === remote.id && one.state === "Settled")) return;
    if (!isAsked(tx, remote, order, order.totalWithTax)) {
      await this.note(tx, order, `${remote.reference} of ${remote.settlement_amount} ${remote.settlement_currency} was paid, which isn't what the order asks for.`);
      return;
    }
    if (order.state !== "ArrangingPayment") await this.orders.transitionToState(tx, order.id, "ArrangingPayment");
    const method = await this.methodOf(tx);
    const added = await this.orders.addPaymentToOrder(tx, order.id, { method: method!.code, metadata: { id: remote.id } });
    if (isGraphQlErrorResult(added)) await this.note(tx, order, `${remote.reference} was paid, and can't be booked: ${added.message}.`);
  }

  private async bringRefunds(tx: RequestContext, order: Order, remote: PaymentDetail, sent: Refund[]): Promise<void> {
    const payment = order.payments.find((one) => one.transactionId === remote.id && one.state === "Settled");
    if (!payment) return;
    for (const one of sent.filter((each) => each.status === "confirmed" || each.status === "failed")) {
      const refund = payment.refunds.find((each) => each.transactionId === one.id);
      if (refund?.state === "Pending") {
        if (one.status === "failed") await this.orders.transitionRefundToState(tx, refund.id, "Failed");
        else await this.orders.settleRefund(tx, { id: refund.id, transactionId: one.id });
      } else if (!refund && one.status === "confirmed") {
        if (refunding.has(remote.id)) throw new TooEarly(`Refund ${one.id} isn't written yet`);
        const worth = worthOf(remote, one);
        const fields = { lines: [], shipping: 0, adjustment: worth, amount: worth, paymentId: payment.id };
        await this.orders.refundOrder(tx, { ...fields, reason: "Refunded in Tillgate" });
      }
    }
  }

  private async note(tx: RequestContext, order: Order, note: string): Promise<void> {
    Logger.warn(`Order ${order.code}: ${note}`, "Tillgate");
    await this.orders.addNoteToOrder(tx, { id: order.id, note, isPublic: false });
  }
}
