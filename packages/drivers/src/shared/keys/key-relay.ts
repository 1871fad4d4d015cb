import { randomBytes } from "node:crypto";
import {
  createServer,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { codeOf } from "@flint/core/ports";

const LOOPBACK = "127.0.0.1";

const MOST_CONNECTIONS = 64;

/** Headers about one connection, which mean nothing on the next one. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "host", "expect"],
]);

/**
 * Passes an agent's requests on to its model and puts the user's keys into them outside of the sandbox. The agent gets
 * stand-ins, which are worth nothing anywhere else or once the relay is closed. A request without one passes as it is.
 */
export class KeyRelay {
  readonly #upstream: URL;
  /** The keys by their stand-ins, with the headers in which each is sent. */
  readonly #keys = new Map<string, { readonly key: string; readonly headers: readonly string[] }>();
  readonly #server: Server;
  readonly #agent: HttpAgent;

  private constructor(upstream: URL) {
    this.#upstream = upstream;
    this.#agent = new (upstream.protocol === "https:" ? HttpsAgent : HttpAgent)({ keepAlive: true });
    this.#server = createServer((request, response) => this.#pass(request, response));
    this.#server.maxConnections = MOST_CONNECTIONS;
    // A model may think for long before its answer begins.
    this.#server.requestTimeout = 0;
  }

  /** Listens on the loopback interface when this resolves. The caller closes it. */
  static async open(upstream: URL): Promise<KeyRelay> {
    const relay = new KeyRelay(upstream);
    await new Promise<void>((resolve, reject) => {
      relay.#server.once("error", reject);
      relay.#server.listen(0, LOOPBACK, resolve);
    });
    // Where descriptors run out a connection is lost, and the next one may be accepted again.
    relay.#server.on("error", () => undefined);
    return relay;
  }

  /** The address that the agent uses instead of that of its model. */
  get address(): string {
    const address = this.#server.address();
    return `http://${LOOPBACK}:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  /**
   * Returns the stand-in that the agent gets instead of a key that it sends in one of these headers. Nowhere
   * else is it replaced: a provider may quote other headers in its errors, and the agent would read the key
   * there.
   */
  standIn(key: string, headers: readonly string[]): string {
    const standIn = `flint-${randomBytes(24).toString("hex")}`;
    this.#keys.set(standIn, { key, headers: headers.map((name) => name.toLowerCase()) });
    return standIn;
  }

  /** Ends it and everything that runs through it. */
  close(): Promise<void> {
    this.#keys.clear();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    this.#agent.destroy();
    return closed;
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const target = this.#target(request.url ?? "");
    // A server answers TRACE with the headers that it got.
    if (target === undefined || request.method === "TRACE") {
      request.resume();
      fail(response, 400, "Flint passes requests on by their path only.");
      return;
    }
    const send = target.protocol === "https:" ? requestHttps : requestHttp;
    const headers = this.#headers(request.headers);
    const sent = send(target, { method: request.method, headers, agent: this.#agent });
    sent.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, passed(answer.headers));
      answer.pipe(response);
      // What the model breaks off is broken off for the agent too.
      answer.once("error", () => response.destroy());
    });
    sent.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else fail(response, 502, `Flint could not reach ${target.host}: ${codeOf(error) ?? error.message}.`);
    });
    response.once("close", () => sent.destroy());
    request.once("error", () => sent.destroy());
    request.pipe(sent);
  }

  /** Never leads to another host than that of the model, nor to another part of it. */
  #target(path: string): URL | undefined {
    if (!path.startsWith("/")) return undefined;
    const base = this.#upstream.href.replace(/\/$/, "");
    if (!URL.canParse(base + path)) return undefined;
    const target = new URL(base + path);
    const folder = `${new URL(base).pathname.replace(/\/$/, "")}/`;
    const isBelow = target.pathname.startsWith(folder) && !/%2e|%2f|%5c/i.test(target.pathname);
    return target.origin === this.#upstream.origin && isBelow ? target : undefined;
  }

  #headers(headers: IncomingHttpHeaders): IncomingHttpHeaders {
    const entries = Object.entries(passed(headers)).map(([name, value]) => [
      name,
      typeof value === "string" ? this.#withKey(name, value) : value,
    ]);
    return { ...Object.fromEntries(entries), host: this.#upstream.host };
  }

  #withKey(header: string, value: string): string {
    const [, scheme = "", standIn = ""] = /^(Bearer )?(flint-[0-9a-f]{48})$/.exec(value) ?? [];
    const known = this.#keys.get(standIn);
    return known?.headers.includes(header) === true ? scheme + known.key : value;
  }
}

function passed(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

/** An error as the providers of models send theirs. */
function fail(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error: { type: "api_error", message } }));
}
