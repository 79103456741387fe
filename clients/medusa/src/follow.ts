/** Sessions become what their payments in Tillgate are. Events only say which one to read: they come twice, late and out of order. */
import { ContainerRegistrationKeys, MathBN, Modules, PaymentActions } from "@medusajs/framework/utils";
import type { MedusaContainer, PaymentSessionDTO } from "@medusajs/framework/types";
import { processPaymentWorkflow, refundPaymentWorkflow } from "@medusajs/medusa/core-flows";
import { Tillgate } from "tillgate";
import type { PaymentDetail, WebhookEvent } from "tillgate";
import { isAsked, isPaid, sessionOf, worthOf } from "./providers/tillgate/remote";
import type { Options, SessionData } from "./providers/tillgate/remote";

const PACKAGE = "medusa-plugin-tillgate";
const RELATIONS = ["payment_collection", "payment", "payment.refunds"];

/** What isn't written yet is asked for again. */
export class TooEarly extends Error {}

/** As the payment module has them in medusa-config. */
export function optionsOf(container: MedusaContainer): Options {
  const { modules } = container.resolve(ContainerRegistrationKeys.CONFIG_MODULE);
  const declared = modules?.[Modules.PAYMENT] as { options?: { providers?: { resolve: string; options?: unknown }[] } } | undefined;
  const found = declared?.options?.providers?.find((one) => String(one.resolve).startsWith(PACKAGE));
  if (!found) throw new Error("The payment module has no provider of Tillgate");
  return found.options as Options;
}

/** Other events, and payments of others, are none of this shop's. */
export async function followEvent(container: MedusaContainer, client: Tillgate, event: WebhookEvent): Promise<void> {
  const told = event.data.object as { payment_intent_id?: string; metadata?: Record<string, unknown> };
  const session = sessionOf(told);
  if (!session || !told.payment_intent_id) return;
  const locks = container.resolve(Modules.LOCKING);
  await locks.execute(`tillgate ${session}`, () => follow(container, client, session, told.payment_intent_id!), { timeout: 60 });
}

async function follow(container: MedusaContainer, client: Tillgate, id: string, remoteId: string): Promise<void> {
  const remote = await client.payments.retrieve(remoteId);
  const session = await read(container, id);
  if (!session?.provider_id.startsWith("pp_tillgate") || sessionOf(remote) !== id) return;
  if (isPaid(remote) && !session.payment) await place(container, session, remote);
  await bringRefunds(container, client, await read(container, id));
}

async function read(container: MedusaContainer, id: string): Promise<PaymentSessionDTO | undefined> {
  const [session] = await container.resolve(Modules.PAYMENT).listPaymentSessions({ id }, { relations: RELATIONS });
  return session;
}

/** The session is authorized and captured, and the order of its cart placed. */
async function place(container: MedusaContainer, session: PaymentSessionDTO, remote: PaymentDetail): Promise<void> {
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  const paid = `Tillgate: ${remote.reference} of ${remote.settlement_amount} ${remote.settlement_currency} was paid`;
  const isWhole = MathBN.eq(session.amount, session.payment_collection?.amount ?? 0);
  if (!isWhole || !isAsked(remote, session.data as SessionData)) {
    logger.warn(`${paid}, which isn't what the cart of ${session.id} asks for`);
    return;
  }
  const data = { session_id: session.id, amount: session.amount };
  await processPaymentWorkflow(container).run({ input: { action: PaymentActions.SUCCESSFUL, data } });
}

/** Those begun in Tillgate. Medusa writes its own before they are sent, and their IDs afterward. */
async function bringRefunds(container: MedusaContainer, client: Tillgate, session?: PaymentSessionDTO): Promise<void> {
  const payment = session?.payment;
  if (!payment) return;
  const data = payment.data as SessionData;
  const remote = await client.payments.retrieve(data.id);
  for (const sent of await client.refunds.list(data.id).toArray({ limit: 100 })) {
    if (data.refunds.includes(sent.id) && sent.status === "failed") {
      const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
      logger.error(`Tillgate: a refund of ${remote.reference} failed, which Medusa shows as refunded: ${sent.failure_reason ?? ""}`);
    }
    if (data.refunds.includes(sent.id) || sent.status !== "confirmed") continue;
    if ((payment.refunds ?? []).length > data.refunds.length) throw new TooEarly(`Refund ${sent.id} isn't written yet`);
    const input = { payment_id: payment.id, amount: Number(worthOf(remote, sent)), note: "Refunded in Tillgate" };
    await refundPaymentWorkflow(container).run({ input });
  }
}
