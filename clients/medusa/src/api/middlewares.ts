import { defineMiddlewares } from "@medusajs/framework/http";

/** A signature is over bytes. */
export default defineMiddlewares({
  routes: [{ matcher: "/hooks/tillgate", method: ["POST"], bodyParser: { preserveRawBody: true } }],
});
