import { TillgateError } from "./errors.js";
import { OPERATIONS } from "./operations.js";
import type { Answer, Body, OperationId, Query } from "./types.js";

export const VERSION = "0.1.0";
const BACKOFF_SECONDS = 0.5;
const BACKOFF_MAX_SECONDS = 8;
// Whoever is told to wait longer is told so instead of waiting.
const RETRY_AFTER_MAX_SECONDS = 60;
const RETRIED = new Set([429, 500, 502, 503, 504]);

export interface TillgateOptions {
  /** A secret key, an OAuth access token or an agent's credential. It decides the mode. */
  apiKey: string;
  /** Where the service is, such as `https://pay.example.com`. */
  baseUrl: string;
  /** How long one attempt may take; 30 seconds. */
  timeoutMs?: number;
  /** How often a call is repeated that can be repeated safely; 2. */
  maxRetries?: number;
  /** Platforms: the account to act for (`X-Service-Account`). */
  account?: string;
  /** Instead of the global fetch. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Yours, such as the order's id. Without one, calls that take one get a new one, made once per call. */
  idempotencyKey?: string;
  /** Ends the call, with its retries. */
  signal?: AbortSignal;
  timeoutMs?: number;
  maxRetries?: number;
  account?: string;
}

export interface Input<Id extends OperationId> {
  path?: Readonly<Record<string, string>>;
  query?: Query<Id>;
  body?: Body<Id>;
}

/** One call of the API: address, key, retries, answer. */
export class Transport {
  readonly #options: Required<Omit<TillgateOptions, "account">> & { account: string | null };

  constructor(options: TillgateOptions) {
    if (!options.apiKey) throw new TypeError("apiKey is required");
    const url = new URL(options.baseUrl);
    if (!/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl must be http or https");
    this.#options = {
      apiKey: options.apiKey,
      baseUrl: url.href.replace(/\/+$/, "").replace(/\/api\/v2$/, ""),
      timeoutMs: options.timeoutMs ?? 30_000,
      maxRetries: options.maxRetries ?? 2,
      account: options.account ?? null,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    };
  }

  /** Call an operation by its name in the API description. */
  async call<Id extends OperationId>(
    id: Id,
    input: Input<Id> = {},
    options: RequestOptions = {},
  ): Promise<Answer<Id>> {
    const response = await this.#send(id, input, options);
    return (response === "" ? undefined : JSON.parse(response as string)) as Answer<Id>;
  }

  /** The same for what isn't JSON, such as a PDF. */
  async download<Id extends OperationId>(
    id: Id,
    input: Input<Id> = {},
    options: RequestOptions = {},
  ): Promise<Uint8Array> {
    return (await this.#send(id, input, options, true)) as Uint8Array;
  }

  async #send<Id extends OperationId>(
    id: Id,
    input: Input<Id>,
    options: RequestOptions,
    isBinary = false,
  ): Promise<string | Uint8Array> {
    const operation = OPERATIONS[id];
    const address = this.#address(operation.path, input.path ?? {}, input.query ?? {});
    const key = operation.takesKey ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
    const request: RequestInit = {
      method: operation.method,
      headers: this.#headers(key, input.body !== undefined, options.account),
      redirect: "manual", // a redirect would turn a POST into a GET
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    };
    const isRepeatable = key !== null || operation.method === "GET" || operation.method === "PATCH";
    const maxRetries = options.maxRetries ?? this.#options.maxRetries;

    for (let attempt = 0; ; attempt += 1) {
      options.signal?.throwIfAborted();
      try {
        return await this.#attempt(address, request, options, isBinary);
      } catch (error) {
        if (!(error instanceof TillgateError)) throw error;
        if (attempt >= maxRetries || !mayRepeat(error, isRepeatable)) throw error;
        await pause(waitSeconds(error, attempt), options.signal);
      }
    }
  }

  async #attempt(
    address: string,
    request: RequestInit,
    options: RequestOptions,
    isBinary: boolean,
  ): Promise<string | Uint8Array> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.#options.timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    try {
      const response = await this.#options.fetch(address, { ...request, signal });
      if (!response.ok) throw TillgateError.of(response, await response.text());
      return isBinary ? new Uint8Array(await response.arrayBuffer()) : await response.text();
    } catch (error) {
      if (error instanceof TillgateError || options.signal?.aborted) throw error;
      if (timeout.aborted) {
        throw new TillgateError("The server didn't answer in time", { type: "timeout", cause: error });
      }
      throw new TillgateError("The server couldn't be reached", { type: "connection", cause: error });
    }
  }

  #address(path: string, parameters: Readonly<Record<string, string>>, query: object): string {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = parameters[name];
      if (!value || value === "." || value === "..") throw new TypeError(`${name} is required`);
      return encodeURIComponent(value);
    });
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) asked.set(name, String(value));
    }
    const tail = asked.size > 0 ? `?${asked}` : "";
    return `${this.#options.baseUrl}/api/v2${filled}${tail}`;
  }

  #headers(key: string | null, hasBody: boolean, account?: string): Record<string, string> {
    const actsFor = account ?? this.#options.account;
    return {
      Accept: "application/json, application/pdf",
      Authorization: `Bearer ${this.#options.apiKey}`,
      "User-Agent": `tillgate-typescript/${VERSION}`,
      ...(hasBody ? { "Content-Type": "application/json" } : {}),
      ...(key === null ? {} : { "Idempotency-Key": key }),
      ...(actsFor === null ? {} : { "X-Service-Account": actsFor }),
    };
  }
}

/** A refusal for the limit did nothing; after anything else only what is safe to repeat is repeated. */
function mayRepeat(error: TillgateError, isRepeatable: boolean): boolean {
  if ((error.retryAfterSeconds ?? 0) > RETRY_AFTER_MAX_SECONDS) return false;
  if (error.status === 429) return true;
  return isRepeatable && (error.status === null || RETRIED.has(error.status));
}

function waitSeconds(error: TillgateError, attempt: number): number {
  const backoff = Math.min(BACKOFF_SECONDS * 2 ** attempt, BACKOFF_MAX_SECONDS);
  return Math.max(error.retryAfterSeconds ?? 0, backoff * (0.5 + Math.random() / 2));
}

function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

