import type { Answers, Bodies, Events, Queries, Schemas } from "./openapi.js";
import type { OPERATIONS } from "./operations.js";

export type { Schemas } from "./openapi.js";

/** The name of an operation in the API description, such as `post_payments`. */
export type OperationId = keyof typeof OPERATIONS;

/** What an operation answers with when it succeeds. */
export type Answer<Id extends OperationId> = Id extends keyof Answers ? Answers[Id] : void;

/** The JSON body of an operation; of one that takes none, nothing is known. */
export type Body<Id extends OperationId> = Id extends keyof Bodies ? Bodies[Id] : unknown;

type Inside<Json, Wrapper> = Json extends unknown
  ? Wrapper extends keyof Json
    ? NonNullable<Json[Wrapper]>
    : never
  : never;

/** The fields that an operation takes inside its wrapper. */
export type Fields<Id extends OperationId, Wrapper extends string> = Inside<Body<Id>, Wrapper>;

/** What an operation can be asked for in its address. */
export type Query<Id extends OperationId> = Id extends keyof Queries ? Queries[Id] : never;

/** The body of a webhook delivery; `type` tells which one it is. */
export type WebhookEvent = Events[keyof Events];

export type Payment = Schemas["PaymentIntent"];
export type PaymentDetail = Schemas["PaymentIntentDetail"];
export type PaymentRow = Schemas["PaymentIntentRow"];
export type Refund = Schemas["Refund"];
export type Payout = Schemas["Payout"];
export type Swap = Schemas["Swap"];
export type Customer = Schemas["Customer"];
export type Product = Schemas["Product"];
export type Price = Schemas["Price"];
export type Invoice = Schemas["Invoice"];
export type Subscription = Schemas["Subscription"];
export type WebhookEndpoint = Schemas["WebhookEndpoint"];
