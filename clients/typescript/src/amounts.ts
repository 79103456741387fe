const encoder = new TextEncoder();

/** What a page hands on as it was signed. */
export interface SignedAmount {
  amount: string;
  currency: string;
  order_id: string;
}

/**
 * `amount_signature` of a payment that a web page creates with a publishable key. For servers: it takes the secret key.
 *
 * It is the HMAC-SHA256, in hex, of amount, currency and order, each on a line of its own, keyed with the SHA-256 of the
 * secret key. The page sends all three as they were signed, and doesn't send `customer_pays_fee`.
 */
export async function signAmount(secretKey: string, order: SignedAmount): Promise<string> {
  if (!order.order_id) throw new TypeError("An amount is signed for an order: order_id is empty");
  const hash = await crypto.subtle.digest("SHA-256", encoder.encode(secretKey));
  const key = await crypto.subtle.importKey("raw", hash, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const message = encoder.encode(`${order.amount}\n${order.currency}\n${order.order_id}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
