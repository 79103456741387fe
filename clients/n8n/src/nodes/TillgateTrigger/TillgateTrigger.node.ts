/** Runs a workflow for each event, from a webhook endpoint that exists as long as the workflow is active. */
import { NodeConnectionTypes } from "n8n-workflow";
import type { IDataObject, IHookFunctions, INodeType, INodeTypeDescription, IWebhookFunctions, IWebhookResponseData, NodeApiError } from "n8n-workflow";
import { CREDENTIAL, ask, fetchAnswer } from "../../call";
import { isGenuine } from "../../signature";
import { EVENTS } from "./events";

/** What n8n keeps of the endpoint. Its secret is told once. */
interface Kept extends IDataObject {
  endpoint?: string;
  secret?: string;
}

async function forget(context: IHookFunctions): Promise<void> {
  const kept: Kept = context.getWorkflowStaticData("node");
  if (!kept.endpoint) return;
  try {
    await fetchAnswer(context, { method: "DELETE", path: `/webhook_endpoints/${kept.endpoint}` });
  } catch (error) {
    if ((error as NodeApiError).httpCode !== "404") throw error;
  }
  delete kept.endpoint;
  delete kept.secret;
}

export class TillgateTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Tillgate Trigger",
    name: "tillgateTrigger",
    icon: "file:../../tillgate.svg",
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: "Starts the workflow when something happens in Tillgate",
    defaults: { name: "Tillgate Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: CREDENTIAL, required: true }],
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "tillgate" }],
    properties: [
      {
        displayName: "Events",
        name: "events",
        type: "multiOptions",
        required: true,
        default: ["payment_intent.completed"],
        options: EVENTS.map((value) => ({ name: value, value })),
        description: "An event may be delivered twice, late and out of order: read the payment before you act on it",
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { endpoint, secret }: Kept = this.getWorkflowStaticData("node");
        if (!endpoint || !secret) return false;
        const { statusCode, body } = await ask(this, { method: "GET", path: `/webhook_endpoints/${endpoint}` });
        const found = body as { url?: string; subscribed_events?: string[]; enabled?: boolean };
        const wanted = [...(this.getNodeParameter("events") as string[])].sort().join();
        const isWanted = found.url === this.getNodeWebhookUrl("default") && found.subscribed_events?.sort().join() === wanted;
        return statusCode === 200 && isWanted && found.enabled !== false;
      },

      async create(this: IHookFunctions): Promise<boolean> {
        await forget(this);
        const endpoint = {
          url: this.getNodeWebhookUrl("default"),
          subscribed_events: this.getNodeParameter("events") as string[],
          platform: "n8n",
          description: `n8n: ${this.getWorkflow().name ?? ""}`,
        };
        const body = { webhook_endpoint: endpoint };
        const made = (await fetchAnswer(this, { method: "POST", path: "/webhook_endpoints", body })) as IDataObject;
        Object.assign(this.getWorkflowStaticData("node"), { endpoint: made.id, secret: made.signing_secret });
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        await forget(this);
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret = "" }: Kept = this.getWorkflowStaticData("node");
    const header = String(this.getHeaderData()["service-signature"] ?? "");
    if (!isGenuine(this.getRequestObject().rawBody, header, secret)) {
      this.getResponseObject().status(401).json({ error: "No signature of the delivery fits its body and the secret" });
      return { noWebhookResponse: true };
    }
    return { workflowData: [this.helpers.returnJsonArray(this.getBodyData())] };
  }
}
