/** The operations of the node, and the fields that its form shows for each. Names are the API's. */
import type { IHttpRequestMethods, INodeProperties, INodePropertyOptions } from "n8n-workflow";

export interface Operation {
  label: string;
  method: IHttpRequestMethods;
  path: string;
  /** Required, and sent as they are named. */
  fields?: string[];
  options?: INodeProperties[];
  /** What the API wraps the fields in. */
  wrap?: string;
  isKeyed?: boolean;
}

function text(name: string, displayName: string, description = ""): INodeProperties {
  return { name, displayName, type: "string", default: "", ...(description ? { description } : {}) };
}

function posts(path: string, wrap?: string): Operation {
  return { label: "Create", method: "POST", path, isKeyed: true, ...(wrap ? { wrap } : {}) };
}

const KEY = text("idempotency_key", "Idempotency Key", "Your own, such as the order's ID. Without one, it is of this item in this execution: Retry On Fail repeats nothing");
const LIMIT: INodeProperties = {
  name: "per_page",
  displayName: "Limit",
  type: "number",
  typeOptions: { minValue: 1, maxValue: 100 },
  default: 50,
};
const METADATA: INodeProperties = {
  name: "metadata",
  displayName: "Metadata",
  type: "fixedCollection",
  typeOptions: { multipleValues: true },
  default: {},
  options: [{ name: "pairs", displayName: "Pair", values: [text("name", "Name"), text("value", "Value")] }],
};
const STATUSES = ["pending", "processing", "completed", "expired", "failed", "refunded"];
const ASSET = "Such as USDC; see the assets of your store";

export const OPERATIONS: Record<string, Operation> = {
  "payment:create": {
    ...posts("/payments", "payment_intent"),
    fields: ["amount", "currency"],
    options: [
      text("order_id", "Order ID"),
      text("title", "Title"),
      text("description", "Description"),
      text("success_url", "Success URL", "Where the customer goes once the payment is completed"),
      text("failed_url", "Failure URL"),
      { name: "expires_in", displayName: "Expires In (Seconds)", type: "number", default: 3600 },
      { name: "customer_pays_fee", displayName: "Customer Pays Fee", type: "boolean", default: true },
      METADATA,
      KEY,
    ],
  },
  "payment:get": { label: "Get", method: "GET", path: "/payments/{id}" },
  "payment:getAll": {
    label: "Get Many",
    method: "GET",
    path: "/payments",
    options: [
      LIMIT,
      text("order_id", "Order ID"),
      { name: "status", displayName: "Status", type: "options", default: "completed", options: STATUSES.map((value) => ({ name: value, value })) },
    ],
  },
  "payment:cancel": { label: "Cancel", method: "POST", path: "/payments/{id}/cancel" },
  "refund:create": {
    ...posts("/payments/{id}/refunds", "refund"),
    options: [
      text("settlement_amount", "Amount in the Payment's Currency", "Everything that was paid goes back if you name no amount"),
      text("amount", "Amount in Coins"),
      text("asset_id", "Asset ID", ASSET),
      text("destination_address", "Destination Address", "Another than the one that paid"),
      KEY,
    ],
  },
  "refund:getAll": { label: "Get Many", method: "GET", path: "/payments/{id}/refunds" },
  "payout:create": { ...posts("/payouts"), fields: ["asset_id", "amount_atomic", "destination_address"], options: [KEY] },
  "payout:get": { label: "Get", method: "GET", path: "/payouts/{id}" },
  "payout:getAll": { label: "Get Many", method: "GET", path: "/payouts", options: [LIMIT, text("asset_id", "Asset ID", ASSET)] },
};

const RESOURCES = ["payment", "refund", "payout"];
const REQUIRED: INodeProperties[] = [
  { ...text("amount", "Amount"), placeholder: "49.00" },
  { ...text("currency", "Currency"), default: "EUR", placeholder: "EUR" },
  text("asset_id", "Asset ID", ASSET),
  text("amount_atomic", "Amount in the Smallest Unit"),
  text("destination_address", "Destination Address"),
];

const names = (test: (operation: Operation) => boolean) => Object.keys(OPERATIONS).filter((name) => test(OPERATIONS[name]!));

/** The form's own fields, for each operation that has them. */
function shown(field: INodeProperties, operations: string[]): INodeProperties[] {
  return operations.map((name) => {
    const [resource, operation] = name.split(":");
    return { ...field, displayOptions: { show: { resource: [resource!], operation: [operation!] } } };
  });
}

function choices(resource: string): INodePropertyOptions[] {
  return names(() => true)
    .filter((name) => name.startsWith(`${resource}:`))
    .map((name) => ({ name: OPERATIONS[name]!.label, value: name.split(":")[1]!, action: `${OPERATIONS[name]!.label} ${resource}` }));
}

export const FIELDS: INodeProperties[] = [
  {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    default: "payment",
    options: RESOURCES.map((value) => ({ name: value[0]!.toUpperCase() + value.slice(1), value })),
  },
  ...RESOURCES.map(
    (resource): INodeProperties => ({
      displayName: "Operation",
      name: "operation",
      type: "options",
      noDataExpression: true,
      default: choices(resource)[0]!.value,
      options: choices(resource),
      displayOptions: { show: { resource: [resource] } },
    }),
  ),
  ...names((operation) => operation.path.startsWith("/payments/{id}")).flatMap((name) =>
    shown({ ...text("id", "Payment ID", "Or its reference"), required: true }, [name]),
  ),
  ...shown({ ...text("id", "Payout ID"), required: true }, ["payout:get"]),
  ...REQUIRED.flatMap((field) => shown({ ...field, required: true }, names((operation) => operation.fields?.includes(field.name) ?? false))),
  ...names((operation) => operation.options !== undefined).flatMap((name) =>
    shown({ displayName: "Options", name: "options", type: "collection", placeholder: "Add option", default: {}, options: OPERATIONS[name]!.options! }, [name]),
  ),
];
