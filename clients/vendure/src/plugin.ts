/** The plugin: the mutation for the storefront, the webhook, and the catch-up. */
import { Controller, Headers, OnApplicationBootstrap, Param, Post, Req, Res } from "@nestjs/common";
import { Args, Mutation, Resolver } from "@nestjs/graphql";
import { ActiveOrderService, Allow, Ctx, EventBus, Logger, OrderStateTransitionEvent, Permission, PluginCommonModule, ProcessContext, RequestContext, Transaction, VendurePlugin } from "@vendure/core";
import gql from "graphql-tag";
import type { IncomingMessage, ServerResponse } from "node:http";
import { TillgateError, WebhookVerificationError, verifyWebhook } from "tillgate";
import { clientOf, tillgateHandler } from "./handler";
import { TillgateService, TooEarly } from "./service";

const ROUTE = "payments/tillgate";
const BODY_BYTES = 1_000_000;
const CATCH_UP_MS = 5 * 60_000;

interface WithBody extends IncomingMessage {
  rawBody?: Buffer;
  _body?: boolean;
}

/** Keeps the body as it came: a signature is over bytes. */
function keepBody(request: WithBody, response: ServerResponse, next: () => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_BYTES) chunks.push(chunk);
  });
  request.on("end", () => {
    request.rawBody = Buffer.concat(chunks);
    request._body = true; // Nothing else parses it.
    next();
  });
}

@Controller(ROUTE)
export class TillgateController {
  constructor(private tillgate: TillgateService) {}

  /** What can't be brought up to date now is answered with 503, and delivered again. */
  @Post(":channel")
  async hear(
    @Param("channel") channel: string,
    @Headers("service-signature") signature: string | undefined,
    @Req() request: WithBody,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const answer = (status: number, text: string) => response.writeHead(status).end(text);
    const ctx = await this.tillgate.contextOf(channel).catch(() => undefined);
    const method = ctx && (await this.tillgate.methodOf(ctx));
    const secret = method?.handler.args.find((one) => one.name === "signingSecret")?.value;
    if (!ctx || !method || !secret) return void answer(404, "No payment method uses Tillgate in this channel");
    try {
      const event = await verifyWebhook(request.rawBody ?? "", signature, secret);
      await this.tillgate.followEvent(ctx, clientOf(method.handler.args), event);
      answer(200, "OK");
    } catch (error) {
      if (error instanceof WebhookVerificationError) return void answer(400, error.message);
      if (!(error instanceof TillgateError) && !(error instanceof TooEarly)) throw error;
      answer(503, "Later");
    }
  }
}

@Resolver()
export class TillgateResolver {
  constructor(
    private tillgate: TillgateService,
    private active: ActiveOrderService,
  ) {}

  @Mutation()
  @Transaction()
  @Allow(Permission.Owner)
  async createTillgatePayment(@Ctx() ctx: RequestContext, @Args() args: { returnUrl?: string }): Promise<string> {
    const order = await this.active.getActiveOrder(ctx, undefined);
    if (!order) throw new Error("There is no active order");
    return this.tillgate.pay(ctx, order, args.returnUrl);
  }
}

@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: "^3.4.0",
  controllers: [TillgateController],
  providers: [TillgateService],
  shopApiExtensions: {
    schema: gql`
      extend type Mutation {
        "Where the active order is paid. The customer comes back to returnUrl."
        createTillgatePayment(returnUrl: String): String!
      }
    `,
    resolvers: [TillgateResolver],
  },
  configuration: (config) => {
    config.paymentOptions.paymentMethodHandlers.push(tillgateHandler);
    // A refund stays pending until it has confirmed; Vendure's own process takes that for an error.
    const staysPending = { transitions: { Pending: { to: ["Pending" as const], mergeStrategy: "merge" as const } } };
    config.paymentOptions.refundProcess = [...(config.paymentOptions.refundProcess ?? []), staysPending];
    // Without the slash at its beginning the route would never match.
    config.apiOptions.middleware.push({ route: `/${ROUTE}`, handler: keepBody as never, beforeListen: true });
    return config;
  },
})
export class TillgatePlugin implements OnApplicationBootstrap {
  constructor(
    private tillgate: TillgateService,
    private events: EventBus,
    private processContext: ProcessContext,
  ) {}

  onApplicationBootstrap(): void {
    this.events.ofType(OrderStateTransitionEvent).subscribe((event) => {
      if (event.toState !== "Cancelled") return;
      this.tillgate.cancel(event.ctx, event.order).catch((error) => Logger.error(String(error), "Tillgate"));
    });
    if (!this.processContext.isServer) return;
    const catchUp = () => void this.tillgate.catchUp().catch((error) => Logger.error(String(error), "Tillgate"));
    setInterval(catchUp, CATCH_UP_MS).unref();
    catchUp();
  }
}
