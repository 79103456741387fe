/** The payment provider: a payment page for each session, and refunds. */
import { AbstractPaymentProvider, MedusaError, PaymentActions, PaymentSessionStatus } from "@medusajs/framework/utils";
import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  CancelPaymentInput,
  CancelPaymentOutput,
  CapturePaymentInput,
  CapturePaymentOutput,
  DeletePaymentInput,
  DeletePaymentOutput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  Logger,
  ProviderWebhookPayload,
  RefundPaymentInput,
  RefundPaymentOutput,
  RetrievePaymentInput,
  RetrievePaymentOutput,
  UpdatePaymentInput,
  UpdatePaymentOutput,
  WebhookActionResult,
} from "@medusajs/framework/types";
import { Tillgate, TillgateError, verifyWebhook } from "tillgate";
import { clientOf, decimals, isAsked, isPaid, paidFor, sessionOf, worthOf } from "./remote";
import type { Options, SessionData } from "./remote";

export class TillgateProvider extends AbstractPaymentProvider<Options> {
  static override identifier = "tillgate";
  private readonly client: Tillgate;
  private readonly logger: Logger;

  constructor(
    cradle: { logger: Logger },
    private readonly options: Options,
  ) {
    super(cradle, options);
    this.logger = cradle.logger;
    this.client = clientOf(options);
    const isProduction = process.env.NODE_ENV === "production";
    if (isProduction === options.apiKey.startsWith("svc_sk_test_")) {
      this.logger.warn(`Tillgate: a ${isProduction ? "test key takes play money in production" : "live key takes real money outside of production"}`);
    }
  }

  static override validateOptions(options: Record<string, unknown>): void {
    for (const name of ["baseUrl", "apiKey", "signingSecret"]) {
      if (!options[name]) throw new Error(`The provider Tillgate needs the option ${name}`);
    }
  }

  /** The customer goes to `data.hosted_url` of the session, and comes back to its `data.return_url`. */
  async initiatePayment(input: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const session = String(input.data?.session_id);
    const currency = input.currency_code.toUpperCase();
    const amount = decimals(input.amount, currency);
    const wayBack = input.data?.return_url;
    try {
      const made = await this.client.payments.create(
        {
          amount,
          currency: currency as "EUR",
          order_id: session,
          metadata: { medusa_session: session, customer_email: input.context?.customer?.email ?? "" },
          ...(typeof wayBack === "string" ? { success_url: wayBack, failed_url: wayBack } : {}),
        },
        { idempotencyKey: `medusa ${session} ${amount} ${currency}` },
      );
      const data: SessionData = { id: made.id, session_id: session, hosted_url: made.hosted_url, amount, currency, refunds: [] };
      return { id: made.id, status: PaymentSessionStatus.PENDING, data };
    } catch (error) {
      throw refused(error);
    }
  }

  /** The cart has another total: another payment page. */
  async updatePayment(input: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const data = input.data as SessionData;
    const currency = input.currency_code.toUpperCase();
    if (data.amount === decimals(input.amount, currency) && data.currency === currency) return { data };
    await this.deletePayment({ data });
    const made = await this.initiatePayment(input);
    return { data: { ...data, ...made.data } };
  }

  /** Whoever asks: it is paid only if Tillgate says so, for this session and with its amount. */
  async authorizePayment(input: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const data = input.data as SessionData;
    const paid = await paidFor(this.client, data);
    if (!paid) return { status: PaymentSessionStatus.REQUIRES_MORE, data };
    return { status: PaymentSessionStatus.CAPTURED, data: { ...data, id: paid.id, reference: paid.reference } };
  }

  async getPaymentStatus(input: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const { status, data } = await this.authorizePayment(input);
    return { status, data };
  }

  /** Coins that have come were captured by that. */
  async capturePayment(input: CapturePaymentInput): Promise<CapturePaymentOutput> {
    return { data: input.data };
  }

  /** What has been paid can only be refunded. */
  async cancelPayment(input: CancelPaymentInput): Promise<CancelPaymentOutput> {
    try {
      return await this.deletePayment(input);
    } catch (error) {
      this.logger.warn(`Tillgate: payment ${String(input.data?.id)} stays open: ${String(error)}`);
      return { data: input.data };
    }
  }

  /** Its page can't be paid any more. Medusa keeps the session of one that something has come for. */
  async deletePayment(input: DeletePaymentInput): Promise<DeletePaymentOutput> {
    const data = input.data as SessionData | undefined;
    if (!data?.id) return { data };
    try {
      for await (const row of this.client.payments.list({ order_id: data.session_id })) {
        if (sessionOf(row) === data.session_id && !row.terminal) await this.client.payments.cancel(row.id);
      }
      return { data };
    } catch (error) {
      throw refused(error);
    }
  }

  /** The first refund of a payment is its last. One that was begun in Tillgate is recorded. */
  async refundPayment(input: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const data = input.data as SessionData;
    const known = data.refunds ?? [];
    const amount = decimals(input.amount, data.currency);
    try {
      const remote = await this.client.payments.retrieve(data.id);
      const begun = await this.client.refunds.list(data.id).toArray({ limit: 100 });
      const found = begun.find((one) => one.status === "confirmed" && !known.includes(one.id));
      if (found && worthOf(remote, found) !== amount) throw new Error("Tillgate has refunded another amount");
      if (found) return { data: { ...data, refunds: [...known, found.id] } };
      const key = `medusa ${data.session_id} ${known.length}`;
      const [sent] = await this.client.refunds.create(data.id, { settlement_amount: amount }, { idempotencyKey: key });
      if (!sent || sent.refund_in_progress || known.includes(sent.id)) {
        throw new Error("Another refund of this payment is in progress");
      }
      return { data: { ...data, refunds: [...known, sent.id] } };
    } catch (error) {
      throw refused(error);
    }
  }

  async retrievePayment(input: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return { data: (await this.client.payments.retrieve(String(input.data?.id))) as unknown as Record<string, unknown> };
  }

  /** A delivery isn't believed: the payment that it names is read. Throws when it isn't genuine. */
  async getWebhookActionAndData(payload: ProviderWebhookPayload["payload"]): Promise<WebhookActionResult> {
    const header = payload.headers["service-signature"] as string | undefined;
    const event = await verifyWebhook(payload.rawData, header, this.options.signingSecret);
    const told = event.data.object as { payment_intent_id?: string };
    if (!told.payment_intent_id) return { action: PaymentActions.NOT_SUPPORTED };
    const remote = await this.client.payments.retrieve(told.payment_intent_id);
    const session_id = sessionOf(remote);
    if (!session_id || !isPaid(remote)) return { action: PaymentActions.NOT_SUPPORTED };
    return { action: PaymentActions.SUCCESSFUL, data: { session_id, amount: Number(remote.settlement_amount) } };
  }
}

function refused(error: unknown): unknown {
  if (!(error instanceof TillgateError) && !(error instanceof Error)) return error;
  return new MedusaError(MedusaError.Types.NOT_ALLOWED, error.message);
}
