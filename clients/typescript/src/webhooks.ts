import type { WebhookEvent } from "./types.js";

const encoder = new TextEncoder();

/** A delivery that isn't genuine, or is too old. Answer it with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

/**
 * The event of a delivery, once its signature is verified.
 *
 * @param payload The body exactly as it came, before anything parsed it: text, or bytes in a Buffer, Uint8Array or ArrayBuffer.
 * @param header The header `Service-Signature`.
 * @param secret The endpoint's signing secret, `whsec_…`.
 * @param toleranceSeconds How far the delivery's time may be from now.
 * @throws WebhookVerificationError, and TypeError when it is called with something else than the raw body or without a secret
 */
export async function verifyWebhook(
  payload: string | Uint8Array | ArrayBuffer,
  header: string | readonly string[] | null | undefined,
  secret: string,
  toleranceSeconds = 300,
): Promise<WebhookEvent> {
  if (typeof secret !== "string" || secret === "") {
    throw new TypeError("The signing secret is missing: pass the endpoint's secret, which begins with whsec_");
  }
  const bytes = bytesOfBody(payload);
  const { timestamp, signatures } = parts(headerText(header));

  if (!(await isSigned(bytes, timestamp, signatures, secret))) {
    throw new WebhookVerificationError("No signature of the delivery fits its body and the secret");
  }
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError("The delivery's time is outside of the tolerance");
  }
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
}

function bytesOfBody(payload: unknown): Uint8Array {
  if (typeof payload === "string") return encoder.encode(payload);
  if (payload instanceof Uint8Array) return payload;
  // A buffer of another realm, as test runners and frameworks have it, is none of this one's classes.
  if (ArrayBuffer.isView(payload)) return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength);
  if (Object.prototype.toString.call(payload) === "[object ArrayBuffer]") return new Uint8Array(payload as ArrayBuffer);
  if (payload === undefined || payload === null) {
    throw new TypeError("The delivery has no body: pass the raw body, which some frameworks only keep when they are told to");
  }
  throw new TypeError(
    "The raw body is needed, not the parsed one: pass the text or bytes as they came, before JSON was parsed",
  );
}

function headerText(header: unknown): string {
  if (Array.isArray(header)) return header.join(",");
  return typeof header === "string" ? header : "";
}

/** Of `t=<unix seconds>,v1=<hex>`; there may be several signatures. */
function parts(header: string): { timestamp: string; signatures: string[] } {
  const pairs = header.split(",").map((part) => part.trim().split("=", 2));
  const values = (name: string) => pairs.filter(([key]) => key === name).map(([, value]) => value ?? "");
  const [timestamp = ""] = values("t");
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError("The header Service-Signature is missing or malformed");
  }
  return { timestamp, signatures: values("v1") };
}

async function isSigned(
  payload: Uint8Array,
  timestamp: string,
  signatures: string[],
  secret: string,
): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]);
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + payload.length);
  signed.set(prefix);
  signed.set(payload, prefix.length);

  let isGenuine = false;
  for (const signature of signatures) {
    // WebCrypto compares in constant time.
    if (await crypto.subtle.verify("HMAC", key, bytesOf(signature), signed)) isGenuine = true;
  }
  return isGenuine;
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) return new Uint8Array();
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
