import type { components, operations, webhooks } from "./openapi.js";
import type { OPERATIONS } from "./operations.js";

/** Every document that the API answers with, by name. */
export type Schemas = components["schemas"];

/** The name of an operation in the API description, such as `post_payments`. */
export type OperationId = keyof typeof OPERATIONS & keyof operations;

type Content<Response> = Response extends { content: infer Types } ? Types[keyof Types] : void;
type Responses<Id extends OperationId> = operations[Id]["responses"];

/** What an operation answers with when it succeeds. */
export type Answer<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: Content<Responses<Id>[Status]>;
}[keyof Responses<Id>];

/** The JSON body of an operation. */
export type Body<Id extends OperationId> =
  NonNullable<operations[Id]["requestBody"]> extends { content: { "application/json": infer Json } }
    ? Json
    : never;

type Inside<Json, Wrapper> = Json extends unknown
  ? Wrapper extends keyof Json
    ? NonNullable<Json[Wrapper]>
    : never
  : never;

/** The fields that an operation takes inside its wrapper. */
export type Fields<Id extends OperationId, Wrapper extends string> = Inside<Body<Id>, Wrapper>;

/** What an operation can be asked for in its address. */
export type Query<Id extends OperationId> = NonNullable<operations[Id]["parameters"]["query"]>;

/** The body of a webhook delivery; `type` tells which one it is. */
export type WebhookEvent = {
  [Name in keyof webhooks]: webhooks[Name] extends {
    post: { requestBody: { content: { "application/json": infer Event } } };
  }
    ? Event
    : never;
}[keyof webhooks];

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
