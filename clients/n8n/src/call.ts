/** Calls of the API. A refusal is told in the API's own sentence and code. */
import { NodeApiError } from "n8n-workflow";
import type { IDataObject, IExecuteFunctions, IHookFunctions, IHttpRequestMethods, IHttpRequestOptions, JsonObject } from "n8n-workflow";

export const CREDENTIAL = "tillgateApi";

export interface Call {
  method: IHttpRequestMethods;
  path: string;
  query?: IDataObject;
  body?: IDataObject;
  idempotencyKey?: string;
}

export interface Answer {
  statusCode: number;
  body: IDataObject | IDataObject[];
}

/** The answer, whatever its status. */
export async function ask(context: IExecuteFunctions | IHookFunctions, call: Call): Promise<Answer> {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>(CREDENTIAL);
  const request: IHttpRequestOptions = {
    method: call.method,
    url: `${baseUrl.trim().replace(/\/+$/, "")}/api/v2${call.path}`,
    headers: call.idempotencyKey ? { "Idempotency-Key": call.idempotencyKey } : {},
    qs: call.query ?? {},
    ...(call.body ? { body: call.body } : {}),
    json: true,
    disableFollowRedirect: true, // A redirect would turn a POST into a GET.
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
  };
  try {
    return (await context.helpers.httpRequestWithAuthentication.call(context, CREDENTIAL, request)) as Answer;
  } catch (error) {
    throw new NodeApiError(context.getNode(), error as JsonObject);
  }
}

export async function fetchAnswer(context: IExecuteFunctions | IHookFunctions, call: Call, itemIndex = 0): Promise<Answer["body"]> {
  const { statusCode, body } = await ask(context, call);
  if (statusCode >= 200 && statusCode < 300) return body;
  const { message, code } = read(body, statusCode);
  const facts = { message, description: code, httpCode: String(statusCode), itemIndex };
  throw new NodeApiError(context.getNode(), { ...(body as JsonObject), code }, facts);
}

/** `{error: text}`, `{error: {message, code}}` or `{errors: [text]}`. */
function read(body: unknown, statusCode: number): { message: string; code: string } {
  const { error, errors } = (typeof body === "object" && body !== null ? body : {}) as IDataObject;
  if (Array.isArray(errors)) return { message: errors.map(String).join("; "), code: "" };
  if (typeof error === "string") return { message: error, code: "" };
  const { message, code } = (error ?? {}) as IDataObject;
  return { message: String(message ?? `The server answered ${statusCode}`), code: String(code ?? "") };
}
