/** Everything since the newest event known, in the way of deliveries. */
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import type { MedusaContainer } from "@medusajs/framework/types";
import type { WebhookEvent } from "tillgate";
import { followEvent, optionsOf } from "../follow";
import { clientOf } from "../providers/tillgate/remote";

const OVERLAP_SECONDS = 30;
let known = Date.now() / 1000 - 7 * 86400;

export const config = { name: "tillgate-catch-up", schedule: "*/5 * * * *" };

export default async function catchUp(container: MedusaContainer): Promise<void> {
  const client = clientOf(optionsOf(container));
  const missed: WebhookEvent[] = [];
  for await (const event of client.events.list({ per_page: 100 })) {
    if (event.created < known - OVERLAP_SECONDS) break;
    missed.push(event as WebhookEvent);
  }
  let hasFailed = false;
  for (const event of [...missed].reverse()) {
    try {
      await followEvent(container, client, event);
    } catch (error) {
      hasFailed = true;
      container.resolve(ContainerRegistrationKeys.LOGGER).error(`Tillgate: ${event.id} is left for later: ${String(error)}`);
    }
  }
  if (missed[0] && !hasFailed) known = missed[0].created;
}
