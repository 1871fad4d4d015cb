import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tokensOf } from "@flint/agent/conversation";
import type { Model } from "@flint/agent/model";
import type { Clock } from "@flint/core/ports";
import { GivenError } from "../intents/given.ts";
import { OfflineModel } from "../offline-model.ts";
import { answerCall } from "./answering.ts";
import { AnthropicShape } from "./anthropic.ts";
import { ChatShape } from "./chat.ts";
import { BODY_LIMIT, readBody, sendJson } from "./http-answer.ts";
import { modelEntry, modelList, ollamaTags } from "./model-list.ts";
import { ResponsesShape } from "./responses.ts";
import type { ModelCall, Shape } from "./shape.ts";

/** How the server should work. */
export interface ModelServerOptions {
  /** 0 takes one that is free. */
  readonly port?: number;
  /** A script that is played instead of the rules. */
  readonly script?: string | undefined;
  readonly clock?: Pick<Clock, "after">;
}

const LOOPBACK = "127.0.0.1";
const LOOPBACK_NAMES = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** A request that is refused, with the status that says why. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The offline model over HTTP, for programs on this machine only. */
export class ModelServer {
  readonly #server: Server;
  readonly #model: Model;
  readonly #anthropic = new AnthropicShape();
  readonly #shapes: Readonly<Record<string, Shape>> = {
    "/messages": this.#anthropic,
    "/messages/count_tokens": this.#anthropic,
    "/responses": new ResponsesShape(),
    "/chat/completions": new ChatShape(),
  };

  private constructor(model: Model) {
    this.#model = model;
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  /** Listens when this resolves. Rejects if the script cannot be read or the port is taken. */
  static async start({ port = 0, script, ...rest }: ModelServerOptions = {}): Promise<ModelServer> {
    const model = new OfflineModel({ script, leavesRetries: true, ...rest });
    await model.load();
    const server = new ModelServer(model);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(port, LOOPBACK, resolve);
    });
    return server;
  }

  /** Where it listens, without a slash at the end. */
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
    const shape = this.#shapes[path] ?? this.#shapeOf(request);
    // The last catch of a request: it must not take the server down with it.
    try {
      guard(request);
      if (request.method === "POST") await this.#post(path, request, response);
      else this.#get(path, request, response);
    } catch (error) {
      const status = error instanceof Refusal ? error.status : error instanceof GivenError ? 400 : 500;
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, status, shape.failure(status, message), { connection: "close" });
    }
  }

  #get(path: string, { method }: IncomingMessage, response: ServerResponse): void {
    if (method !== "GET" && method !== "HEAD") throw new Refusal(405, `${method} is not known here.`);
    if (path in this.#shapes) throw new Refusal(405, `${path} has to be asked with POST.`);
    sendJson(response, 200, found(path));
  }

  async #post(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const shape = this.#shapes[path];
    if (shape === undefined) throw nowhere(path);
    const call = shape.read(await jsonBody(request));
    if (path !== "/messages/count_tokens") await answerCall(call, shape, this.#model, response);
    else sendJson(response, 200, { input_tokens: inputTokens(call) });
  }

  /** Which way of talking a caller expects where the path does not tell. */
  #shapeOf({ headers }: IncomingMessage): Shape {
    return "anthropic-version" in headers ? this.#anthropic : new ChatShape();
  }
}

/** Only programs of this machine are served: no name that a web page could have made up, and no web page. */
function guard({ headers }: IncomingMessage): void {
  const host = (headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  if (!LOOPBACK_NAMES.has(host))
    throw new Refusal(403, `The host ${JSON.stringify(host)} is not this machine.`);
  if (headers.origin !== undefined) throw new Refusal(403, "Web pages are not served.");
}

/** What can be looked at without asking the model anything. */
function found(path: string): object {
  if (path === "/") return { server: "flint", model: "flint-offline" };
  if (path === "/models") return modelList();
  if (path === "/api/tags") return ollamaTags();
  const [, model] = /^\/models\/(.+)$/.exec(path) ?? [];
  if (model !== undefined) return modelEntry(decodeURIComponent(model));
  throw nowhere(path);
}

function nowhere(path: string): Refusal {
  return new Refusal(
    404,
    `There is nothing at ${path}. There are POST /v1/messages, /v1/responses and /v1/chat/completions, and GET /v1/models.`,
  );
}

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity")
    throw new Refusal(415, `The encoding ${JSON.stringify(encoding)} is not known here.`);
  const body = await readBody(request);
  if (body === undefined) throw new Refusal(413, `The body is longer than ${BODY_LIMIT} bytes.`);
  // Expected: a body that is no JSON.
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, "The body is not JSON.");
  }
}

/** The path without its query, its version and a slash at its end. */
function pathOf({ url = "/" }: IncomingMessage): string {
  const path = url.replace(/[?#].*$/, "").replace(/^\/v1(?=\/|$)/, "");
  return path.length > 1 ? path.replace(/\/+$/, "") : "/";
}

function inputTokens({ request }: ModelCall): number {
  return Math.max(1, tokensOf(request.messages));
}
