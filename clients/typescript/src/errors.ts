export type ErrorType =
  | "invalid_request" // a rule is broken; `param` names the field where the message does
  | "authentication" // the key is missing, unknown or revoked
  | "permission" // the key, or the store, may not do this
  | "not_found" // unknown, or of another store or mode
  | "conflict" // not as things stand
  | "rate_limit" // see retryAfterSeconds
  | "unavailable" // a provider or the service can't at the moment
  | "server" // the service failed; give requestId to its operator
  | "timeout" // no answer in time: it may have happened all the same
  | "connection"; // no answer at all: it may have happened all the same

interface Facts {
  type: ErrorType;
  status?: number | null;
  code?: string | null;
  messages?: readonly string[];
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  body?: unknown;
  cause?: unknown;
}

/** Whatever kept a call from succeeding. */
export class TillgateError extends Error {
  override readonly name = "TillgateError";
  readonly type: ErrorType;
  /** The HTTP status, or null when there was no answer. */
  readonly status: number | null;
  /** For programs, such as `insufficient_scope`. Many refusals have none. */
  readonly code: string | null;
  /** The field that the message names first, if it names one. */
  readonly param: string | null;
  /** Of an unknown field: the known one that may be meant. */
  readonly nearest: string | null;
  /** Every sentence of the answer; `message` is all of them. */
  readonly messages: readonly string[];
  /** Tell it to whoever runs the service when something is wrong. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** The body as it came, parsed if it was JSON. */
  readonly body: unknown;

  constructor(message: string, facts: Facts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.type = facts.type;
    this.status = facts.status ?? null;
    this.code = facts.code ?? null;
    this.messages = facts.messages ?? [message];
    this.param = facts.type === "invalid_request" ? fieldOf(this.messages[0] ?? "") : null;
    this.nearest = nearestOf(facts.body);
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.body = facts.body ?? null;
  }

  /** From an answer, in whichever of the API's shapes it is. */
  static of(response: Response, text: string): TillgateError {
    const body = parsed(text);
    const { messages, code } = read(body);
    const known = messages.length > 0 ? messages : [`The server answered ${response.status}`];
    return new TillgateError(known.join("; "), {
      type: typeOf(response.status),
      status: response.status,
      code,
      messages: known,
      requestId: response.headers.get("X-Request-Id"),
      retryAfterSeconds: retryAfter(response.headers),
      body,
    });
  }
}

/** Whole seconds of `Retry-After`, or null. */
function retryAfter(headers: Headers): number | null {
  const value = headers.get("Retry-After") ?? "";
  return /^\d+$/.test(value) ? Number(value) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `{error: text}`, `{error: {message, code}}`, `{errors: [text]}`, or OAuth's code with its description. */
function read(body: unknown): { messages: string[]; code: string | null } {
  if (typeof body !== "object" || body === null) return { messages: [], code: null };
  const { error, errors, error_description: explanation } = body as Record<string, unknown>;
  if (Array.isArray(errors)) return { messages: errors.map(String), code: null };
  if (typeof error === "string") {
    const isCode = /^[a-z]+(_[a-z]+)+$/.test(error) || typeof explanation === "string";
    return { messages: [typeof explanation === "string" ? explanation : error], code: isCode ? error : null };
  }
  if (typeof error !== "object" || error === null) return { messages: [], code: null };
  const { message, code } = error as Record<string, unknown>;
  return { messages: [String(message)], code: typeof code === "string" ? code : null };
}

function nearestOf(body: unknown): string | null {
  const { error, nearest } = (body ?? {}) as Record<string, unknown>;
  const name = typeof error === "object" && error !== null ? (error as Record<string, unknown>).nearest : nearest;
  return typeof name === "string" ? name : null;
}

/** Messages about a field begin with its name (`amount must be greater than zero`) or end with it (`Unknown field: colour`). */
function fieldOf(message: string): string | null {
  const unknown = /^Unknown field: (.+)$/.exec(message);
  if (unknown) return unknown[1] ?? null;
  return /^([a-z][a-z0-9_]*(?:[.[][a-z0-9_\]]+)*) /.exec(message)?.[1] ?? null;
}

function typeOf(status: number): ErrorType {
  if (status === 401) return "authentication";
  if (status === 403) return "permission";
  if (status === 404 || status === 410) return "not_found";
  if (status === 409) return "conflict";
  if (status === 429) return "rate_limit";
  if (status === 502 || status === 503 || status === 504) return "unavailable";
  return status >= 500 ? "server" : "invalid_request";
}
