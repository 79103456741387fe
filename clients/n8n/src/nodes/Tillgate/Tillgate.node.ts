/** Payments, refunds and payouts, one call of the API for each item. */
import { createHash } from "node:crypto";
import { NodeConnectionTypes, NodeOperationError } from "n8n-workflow";
import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType, INodeTypeDescription } from "n8n-workflow";
import { CREDENTIAL, fetchAnswer } from "../../call";
import { FIELDS, OPERATIONS } from "./operations";

/** The same when n8n tries a node again, and another for each item, loop and run. */
function keyOf(context: IExecuteFunctions, itemIndex: number): string {
  const run = context.evaluateExpression("{{ $runIndex }}", itemIndex);
  const place = [context.getInstanceId(), context.getWorkflow().id, context.getExecutionId(), context.getNode().id];
  return `n8n-${createHash("sha256").update([...place, run, itemIndex].join(" ")).digest("hex")}`;
}

/** An option that was added has a value: nothing that an expression missed becomes a refund of everything. */
function optionsOf(context: IExecuteFunctions, itemIndex: number): IDataObject {
  const options = { ...(context.getNodeParameter("options", itemIndex, {}) as IDataObject) };
  for (const [name, value] of Object.entries(options)) {
    if (value !== "" && value !== null && value !== undefined) continue;
    throw new NodeOperationError(context.getNode(), `${name} is empty: give it a value, or remove the option`, { itemIndex });
  }
  const { pairs } = (options.metadata ?? {}) as { pairs?: { name: string; value: string }[] };
  if (options.metadata) options.metadata = Object.fromEntries((pairs ?? []).map((pair) => [pair.name, pair.value]));
  return options;
}

async function carryOut(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject[]> {
  const read = (name: string) => context.getNodeParameter(name, itemIndex) as string;
  const operation = OPERATIONS[`${read("resource")}:${read("operation")}`]!;
  const { idempotency_key: key, ...options } = optionsOf(context, itemIndex);
  const id = operation.path.includes("{id}") ? read("id").trim() : "";
  if (operation.path.includes("{id}") && !/^[\w-]+$/.test(id)) {
    throw new NodeOperationError(context.getNode(), "ID is missing or isn't one", { itemIndex });
  }
  const path = operation.path.replace("{id}", id);
  const fields = { ...Object.fromEntries((operation.fields ?? []).map((name) => [name, read(name)])), ...options };
  const isRead = operation.method === "GET";
  const answer = await fetchAnswer(
    context,
    {
      method: operation.method,
      path,
      ...(isRead ? { query: fields } : { body: operation.wrap ? { [operation.wrap]: fields } : fields }),
      ...(operation.isKeyed ? { idempotencyKey: String(key ?? keyOf(context, itemIndex)) } : {}),
    },
    itemIndex,
  );
  if (Array.isArray(answer)) return answer;
  return isRead && Array.isArray(answer.data) ? (answer.data as IDataObject[]) : [answer];
}

export class Tillgate implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Tillgate",
    name: "tillgate",
    icon: "file:../../tillgate.svg",
    group: ["transform"],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: "Take crypto payments, refund them and pay out",
    defaults: { name: "Tillgate" },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: CREDENTIAL, required: true }],
    properties: FIELDS,
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const told: INodeExecutionData[] = [];
    for (let item = 0; item < this.getInputData().length; item += 1) {
      try {
        const records = await carryOut(this, item);
        told.push(...records.map((json) => ({ json, pairedItem: { item } })));
      } catch (error) {
        if (!this.continueOnFail()) throw error;
        const { message, description } = error as NodeOperationError;
        told.push({ json: { error: message, code: description ?? null }, pairedItem: { item } });
      }
    }
    return [told];
  }
}
