import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tokensOf } from "@flint/agent/conversation";
import { type Model, ModelFailure, type ModelPart, tokensInCharacters } from "@flint/agent/model";
import type { Clock } from "@flint/core/ports";
import { errorMessage, previewOf } from "@flint/protocol";
import { formatAsJson } from "../json-sample.ts";
import { OfflineModel } from "../offline-model.ts";
import { CutStream, ScriptedFailure } from "../script.ts";
import { type ApiRequest, HttpError, type ModelApi, type StreamEvent } from "./api.ts";
import { chatApi } from "./chat-api.ts";
import { messagesApi } from "./messages-api.ts";
import { responsesApi } from "./responses-api.ts";

/** Options of the server. */
export interface ModelServerOptions {
  /** 0 takes a free port. */
  readonly port?: number;
  /** A script that is played instead of the rules. */
  readonly script?: string | undefined;
  readonly clock?: Clock;
}

const LOOPBACK = "127.0.0.1";
const LOOPBACK_NAMES = new Set(["127.0.0.1", "localhost", "[::1]"]);
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** The model that is listed. Requests may name any other. */
const MODEL = "flint-offline";
const CREATED = Date.UTC(2025, 0, 1);

const APIS: Readonly<Record<string, ModelApi>> = {
  "/messages": messagesApi,
  "/responses": responsesApi,
  "/chat/completions": chatApi,
};

/** The offline model over HTTP, for programs on this machine only. */
export class ModelServer {
  readonly #server: Server;
  readonly #model: Model;

  private constructor(model: Model) {
    this.#model = model;
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  /** Listens when this resolves. Rejects if the script cannot be read or the port is taken. */
  static async start({ port = 0, script, ...rest }: ModelServerOptions = {}): Promise<ModelServer> {
    const model = new OfflineModel({ script, throwsRetries: true, ...rest });
    await model.load();
    const server = new ModelServer(model);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(port, LOOPBACK, resolve);
    });
    return server;
  }

  /** The address it listens at, without a trailing slash. */
  get url(): string {
    const address = this.#server.address();
    return `http://${LOOPBACK}:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  /** Ends every connection and resolves when the port is free. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    // The last catch of a request: a failure must not take the server down.
    try {
      rejectRemote(request);
      if (request.method === "POST") await this.#post(path, request, response);
      else sendJson(response, 200, this.#get(path, request));
    } catch (error) {
      const status = error instanceof HttpError ? error.status : 500;
      const message = errorMessage(error);
      const errorBody =
        path.startsWith("/messages") || "anthropic-version" in request.headers
          ? messagesApi.errorBody
          : chatApi.errorBody;
      if (response.headersSent) response.destroy();
      else sendJson(response, status, errorBody(status, message), { connection: "close" });
    }
  }

  #get(path: string, { method }: IncomingMessage): object {
    if (method !== "GET" && method !== "HEAD") throw new HttpError(405, `${method} is not supported.`);
    if (path in APIS) throw new HttpError(405, `${path} takes POST.`);
    const [, model] = /^\/models\/(.+)$/.exec(path) ?? [];
    if (model !== undefined) return modelEntry(decodeURIComponent(model));
    if (path === "/") return { server: "flint", model: MODEL };
    if (path === "/api/tags")
      return { models: [{ name: MODEL, model: MODEL, size: 0, digest: "", details: {} }] };
    if (path !== "/models") throw notFound(path);
    return { object: "list", data: [modelEntry(MODEL)], has_more: false, first_id: MODEL, last_id: MODEL };
  }

  async #post(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const api = APIS[path];
    if (api !== undefined)
      return sendResponse(api, api.parse(await readJson(request)), this.#model, response);
    if (path !== "/messages/count_tokens") throw notFound(path);
    const { messages } = messagesApi.parse(await readJson(request)).request;
    sendJson(response, 200, { input_tokens: Math.max(1, tokensOf(messages)) });
  }
}

/** Rejects names that a web page could have made up, and web pages. */
function rejectRemote({ headers }: IncomingMessage): void {
  const host = (headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  if (!LOOPBACK_NAMES.has(host))
    throw new HttpError(403, `The host ${JSON.stringify(host)} is not this machine.`);
  if (headers.origin !== undefined) throw new HttpError(403, "Web pages are not served.");
}

function notFound(path: string): HttpError {
  const paths = "POST /v1/messages, /v1/responses and /v1/chat/completions, and GET /v1/models";
  return new HttpError(404, `There is nothing at ${path}. There are ${paths}.`);
}

/** The path without query, version and trailing slash. */
function pathOf({ url = "/" }: IncomingMessage): string {
  const path = url.replace(/[?#].*$/, "").replace(/^\/v1(?=\/|$)/, "");
  return path.length > 1 ? path.replace(/\/+$/, "") : "/";
}

/** One model, with the fields of both Anthropic's and OpenAI's lists. */
function modelEntry(id: string): object {
  return {
    ...{ id, object: "model", created: CREATED / 1000, owned_by: "flint" },
    ...{ type: "model", display_name: "Flint offline model", created_at: new Date(CREATED).toISOString() },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request);
  // Expected: a body that is not JSON.
  try {
    return JSON.parse(body);
  } catch {
    throw new HttpError(400, "The body is not JSON.");
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const tooLarge = () => new HttpError(413, `The body is longer than ${MAX_BODY_BYTES} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Sends a JSON body and ends the response. */
function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  });
  response.end(text);
}

/** Runs the model for one request and sends what it responds, as a stream or as a whole. */
async function sendResponse(
  api: ModelApi,
  request: ApiRequest,
  model: Model,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = api.respond(request);
  const send = (events: readonly StreamEvent[]) =>
    request.stream ? sendEvents(response, events) : undefined;
  const parts = request.isTitle ? titleParts(request) : model.stream(request.request, gone.signal);
  // Expected: any failure of the model; the client gets it in the format of its API as far as that is still possible.
  try {
    let usage: Extract<ModelPart, { type: "usage" }>["usage"] = { inputTokens: 0, outputTokens: 0 };
    let hasStarted = false;
    for await (const part of parts) {
      if (response.destroyed) return;
      if (!hasStarted) await send(answer.start(part.type === "usage" ? part.usage : undefined));
      hasStarted = true;
      if (part.type === "usage") usage = part.usage;
      else if (part.type === "finish") await send(answer.finish(part.reason, usage));
      else await send(answer.part(part));
    }
    if (request.stream) response.end();
    else sendJson(response, 200, answer.body());
  } catch (error) {
    // What was sent before the cut still arrives, but not its end.
    if (error instanceof CutStream) response.socket?.destroySoon();
    else if (!(error instanceof ModelFailure)) throw error;
    else if (!response.headersSent) sendFailure(api, error, response);
    else {
      await send(answer.fail(error.message));
      response.end();
    }
  }
}

/** Clients retry server errors by themselves, so a failure that a user asked for is not sent as one. */
function sendFailure(api: ModelApi, failure: ModelFailure, response: ServerResponse): void {
  const status = failure.error.httpStatusCode ?? 400;
  const retryAfter = failure instanceof ScriptedFailure ? failure.retryAfter : undefined;
  const headers = retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) };
  sendJson(response, status, api.errorBody(status, failure.message), headers);
}

/** Waits for a client that reads slowly. */
async function sendEvents(response: ServerResponse, events: readonly StreamEvent[]): Promise<void> {
  if (!response.headersSent)
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    });
  const text = events.map(eventText).join("");
  if (text === "" || response.write(text) || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });
}

function eventText({ name, data }: StreamEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return name === undefined ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`;
}

/** The beginning of the first prompt as a title. */
async function* titleParts({ request }: ApiRequest): AsyncIterable<ModelPart> {
  const prompt = request.messages.find(({ role }) => role === "user")?.text ?? "";
  const words = previewOf(prompt.replaceAll(/[`"'*#]/g, "")).split(/\s+/);
  const title = words.slice(0, 7).join(" ") || "A conversation";
  const text = request.outputSchema === undefined ? title : formatAsJson(title, request.outputSchema);
  yield { type: "text-delta", text };
  const usage = { inputTokens: tokensOf(request.messages), outputTokens: tokensInCharacters(text.length) };
  yield { type: "usage", usage };
  yield { type: "finish", reason: "stop" };
}
