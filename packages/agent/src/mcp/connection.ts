import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { type AskUser, answerElicitation } from "@flint/core/elicitation";
import type { Clock, McpServerConfig } from "@flint/core/ports";
import { isRecord } from "@flint/protocol";
import type { Client, Progress, StandardSchemaV1 } from "@modelcontextprotocol/client";
import { FailureDescriber, McpFailure, Redaction } from "./failure.ts";
import { IdleTimeout, OpenCalls } from "./open-calls.ts";
import { sandboxStartHint } from "./server-process.ts";
import { ToolList } from "./tool-list.ts";
import { type ConnectionOptions, type McpLibrary, openTransport } from "./transport/open-transport.ts";
import type { ServerTransport } from "./transport/server-transport.ts";

/** The caller of a tool. */
export interface CallListener {
  readonly signal: AbortSignal;
  progress(update: Progress): void;
  readonly ask: AskUser;
}

type Request = { readonly method: string; readonly params?: Record<string, unknown> };

/** The timeout of every request but tool calls. */
export const RESPONSE_TIMEOUT_MS = 10_000;
/** Time for which a tool call may run without progress. */
export const IDLE_TIMEOUT_MS = 10 * 60_000;

const MAX_PAGES = 50;
const MAX_URLS = 3;

// Timeouts use the injected clock. The library has timers of its own; this is the longest it supports.
const MAX_TIMER_MS = 2 ** 31 - 1;

// The caller reads the result, with bounds.
const ANY_RESULT: StandardSchemaV1<unknown, Record<string, unknown>> = {
  "~standard": {
    version: 1,
    vendor: "flint",
    validate: (value) => (isRecord(value) ? { value } : { issues: [{ message: "It is not an object." }] }),
  },
};

/** A connection to one server. */
export class McpConnection {
  /** Resolves with the reason when the connection is closed. */
  readonly closed: Promise<string>;
  readonly #server: string;
  readonly #client: Client;
  readonly #transport: ServerTransport;
  readonly #clock: Clock;
  readonly #failures: FailureDescriber;
  readonly #calls: OpenCalls;
  #toolList = new ToolList();
  #toolsChanged = true;
  #end: (ending: string) => void = () => {};

  private constructor(
    server: string,
    client: Client,
    transport: ServerTransport,
    clock: Clock,
    failures: FailureDescriber,
  ) {
    this.#server = server;
    this.#client = client;
    this.#transport = transport;
    this.#clock = clock;
    this.#failures = failures;
    this.#calls = new OpenCalls(server);
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    client.onclose = () => this.#end(transport.closeReason);
    client.setRequestHandler("elicitation/create", ({ params }) => this.#calls.answer(params));
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      this.#toolsChanged = true;
    });
  }

  /** Connects and lists the tools. Rejects with an McpFailure and leaves nothing behind. */
  static async open(
    config: McpServerConfig,
    options: ConnectionOptions,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    const library = await import("@modelcontextprotocol/client");
    const failures = new FailureDescriber(library, new Redaction(config));
    const transport = await openTransport(config, options, library).catch((thrown: unknown) => {
      throw failures.describe(thrown);
    });
    const client = newClient(library, options);
    const connection = new McpConnection(config.name, client, transport, options.clock, failures);
    try {
      await connection.#begin(signal);
      return connection;
    } catch (thrown) {
      // Whatever a server can fail with while connecting; the reason is kept, the rest is cleaned up.
      const isEnd = !signal.aborted && failures.isConnectionEnd(thrown);
      await connection.close();
      if (isEnd)
        throw new McpFailure(`${transport.closeReason}${sandboxStartHint(config, options)}`, {
          cause: thrown,
        });
      const { message } = signal.aborted ? new McpFailure(String(signal.reason)) : failures.describe(thrown);
      throw new McpFailure(`${message} ${transport.diagnostics}`.trim(), { cause: thrown });
    }
  }

  get tools(): ToolList {
    return this.#toolList;
  }

  get hasResources(): boolean {
    return this.#client.getServerCapabilities()?.resources !== undefined;
  }

  /** Lists the tools again if the server announced a change. */
  async refreshTools(signal: AbortSignal): Promise<void> {
    if (!this.#toolsChanged || this.#client.getServerCapabilities()?.tools === undefined) return;
    this.#toolsChanged = false;
    const list = new ToolList();
    for await (const tool of this.#list("tools/list", "tools", signal)) {
      list.add(tool);
      if (list.isFull) break;
    }
    this.#toolList = list;
  }

  /** The resources or resource templates as the server sent them; the caller stops when it has enough. */
  resources(kind: "resources" | "resourceTemplates", signal: AbortSignal): AsyncIterable<unknown> {
    const method = kind === "resources" ? "resources/list" : "resources/templates/list";
    return this.#list(method, kind, signal);
  }

  /** The contents of a resource, as the server sent them. */
  readResource(uri: string, listener: CallListener): Promise<unknown> {
    return this.#call({ method: "resources/read", params: { uri } }, listener);
  }

  /** The result of a tool, as the server sent it. Rejects with an McpFailure if there is none. */
  callTool(tool: string, input: Readonly<Record<string, unknown>>, listener: CallListener): Promise<unknown> {
    return this.#call({ method: "tools/call", params: { name: tool, arguments: input } }, listener);
  }

  /** Closes it. Resolves once the process is gone; never rejects. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const connecting = this.#client.connect(this.#transport, { signal, timeout: MAX_TIMER_MS });
    await Promise.race([connecting, rejectOnAbort(signal)]);
    await this.refreshTools(signal);
  }

  async *#list(method: string, key: string, signal: AbortSignal): AsyncGenerator<unknown, void, void> {
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await this.#request({ method, params }, signal, RESPONSE_TIMEOUT_MS);
      const entries = result[key];
      if (Array.isArray(entries)) yield* entries;
      const { nextCursor } = result;
      if (typeof nextCursor !== "string" || nextCursor === cursor) return;
      cursor = nextCursor;
    }
  }

  /** Makes a call, and repeats it if the server requires the user to open a URL first. */
  async #call(request: Request, listener: CallListener): Promise<unknown> {
    const send = () => this.#request(request, listener.signal, IDLE_TIMEOUT_MS, listener);
    return send().catch(async (thrown: unknown) => {
      const urls = thrown instanceof McpFailure ? this.#failures.requiredUrls(thrown) : [];
      if (urls.length === 0 || urls.length > MAX_URLS) throw thrown;
      for (const url of urls) {
        const { action } = await answerElicitation(
          `The MCP server ${this.#server}`,
          { ...url, mode: "url" },
          listener.ask,
        );
        if (action !== "accept") throw thrown;
      }
      return send();
    });
  }

  async #request(
    request: Request,
    signal: AbortSignal,
    limitMs: number,
    listener?: CallListener,
  ): Promise<Record<string, unknown>> {
    const stop = new AbortController();
    // The reason is sent to the server, so it contains no more than this.
    const onAbort = () => stop.abort("The call was cancelled.");
    const message = `It did not answer within ${limitMs / 1000} seconds.`;
    const timeout = new IdleTimeout(this.#clock, limitMs, () => stop.abort(message));
    const leave = listener === undefined ? () => {} : this.#calls.begin(listener.ask, timeout);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const onprogress = (update: Progress) => {
      timeout.restart();
      listener?.progress(update);
    };
    try {
      return await this.#client.request(request, ANY_RESULT, {
        signal: stop.signal,
        timeout: MAX_TIMER_MS,
        ...(listener === undefined ? {} : { onprogress }),
      });
    } catch (thrown) {
      // Whatever a call can fail with, described once.
      throw stop.signal.aborted ? new McpFailure(String(stop.signal.reason)) : await this.#failed(thrown);
    } finally {
      signal.removeEventListener("abort", onAbort);
      timeout.end();
      leave();
    }
  }

  /** Closes a connection that no longer works, so that the next turn opens a new one. */
  async #failed(thrown: unknown): Promise<McpFailure> {
    if (this.#failures.isConnectionEnd(thrown)) {
      await this.close();
      return new McpFailure(this.#transport.closeReason, { cause: thrown });
    }
    const failure = this.#failures.describe(thrown);
    if (failure === thrown || this.#failures.isServerError(thrown)) return failure;
    this.#end(failure.message);
    void this.close();
    return failure;
  }
}

/** Sampling is not offered: servers must not use the agent's model. */
function newClient({ Client: ClientClass }: McpLibrary, { cwd, version }: ConnectionOptions): Client {
  const capabilities = { elicitation: { form: {}, url: {} }, roots: {} };
  const client = new ClientClass({ name: "flint", version }, { capabilities });
  const root = { uri: pathToFileURL(cwd).href, name: basename(cwd) };
  client.setRequestHandler("roots/list", () => ({ roots: [root] }));
  return client;
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => reject(new McpFailure(String(signal.reason)));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
