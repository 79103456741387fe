import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/** Whether a delivery's header `Service-Signature`, `t=<unix seconds>,v1=<hex>`, is over its bytes, by this secret, and recent. */
export function isGenuine(body: Buffer, header: string, secret: string): boolean {
  const pairs = header.split(",").map((part) => part.trim().split("=", 2));
  const values = (name: string) => pairs.filter(([key]) => key === name).map(([, value]) => value ?? "");
  const [timestamp = ""] = values("t");
  if (!secret || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
  const given = values("v1").map((hex) => Buffer.from(hex, "hex"));
  return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}
