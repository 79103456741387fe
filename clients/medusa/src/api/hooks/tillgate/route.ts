/** The webhook. What can't be brought up to date now is answered with 503, and delivered again. */
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { WebhookVerificationError, verifyWebhook } from "tillgate";
import { followEvent, optionsOf } from "../../../follow";
import { clientOf } from "../../../providers/tillgate/remote";

export async function POST(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const options = optionsOf(request.scope);
  const body = (request as { rawBody?: Buffer }).rawBody ?? "";
  try {
    const event = await verifyWebhook(body, request.headers["service-signature"], options.signingSecret);
    await followEvent(request.scope, clientOf(options), event);
    response.status(200).send("OK");
  } catch (error) {
    if (error instanceof WebhookVerificationError) return void response.status(400).send(error.message);
    request.scope.resolve(ContainerRegistrationKeys.LOGGER).error(`Tillgate: ${String(error)}`);
    response.status(503).send("Later");
  }
}
