import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { type AskUser, answerElicitation } from "@flint/core/elicitation";
import type { Clock, McpServerConfig } from "@flint/core/ports";
import { isRecord } from "@flint/protocol";
import type { Client, Progress, StandardSchemaV1 } from "@modelcontextprotocol/client";
import { FailureDescriber, McpFailure } from "./failure.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { OpenCalls } from "./open-calls.ts";
import { Redaction } from "./redaction.ts";
import { ToolList } from "./tool-list.ts";
import { type ConnectionOptions, type McpLibrary, openTransport } from "./transport/open-transport.ts";
import type { ServerTransport } from "./transport/server-transport.ts";

/** Whoever waits for a call. */
export interface CallListener {
  readonly signal: AbortSignal;
  progress(update: Progress): void;
  readonly ask: AskUser;
}

type Request = { readonly method: string; readonly params?: Record<string, unknown> };

/** How long a server may take for anything but the work of a tool. */
export const RESPONSE_TIMEOUT_MS = 10_000;
/** How long the work of a tool may go on without any sign of life. */
export const IDLE_TIMEOUT_MS = 10 * 60_000;

const MOST_PAGES = 50;
const MOST_ADDRESSES = 3;

// Every wait is bounded by the clock of this process. The library counts real time; this is the most it can count.
const LONGEST_TIMER = 2 ** 31 - 1;

// What is in a result is read, with bounds, by whoever asked for it.
const ANY_RESULT: StandardSchemaV1<unknown, Record<string, unknown>> = {
  "~standard": {
    version: 1,
    vendor: "flint",
    validate: (value) => (isRecord(value) ? { value } : { issues: [{ message: "It is not an object." }] }),
  },
};

/** A connection to one server, from its first message to its end. */
export class McpConnection {
  /** How it ended, in words for people; settles once, and never rejects. */
  readonly closed: Promise<string>;
  readonly #server: string;
  readonly #client: Client;
  readonly #transport: ServerTransport;
  readonly #clock: Clock;
  readonly #words: FailureDescriber;
  readonly #calls: OpenCalls;
  #toolList = new ToolList();
  #toolsChanged = true;
  #end: (ending: string) => void = () => {};

  private constructor(
    server: string,
    client: Client,
    transport: ServerTransport,
    clock: Clock,
    words: FailureDescriber,
  ) {
    this.#server = server;
    this.#client = client;
    this.#transport = transport;
    this.#clock = clock;
    this.#words = words;
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

  /** Connects, and learns what the server offers. Rejects with an McpFailure and leaves nothing behind. */
  static async open(
    config: McpServerConfig,
    setup: ConnectionOptions,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    const library = await import("@modelcontextprotocol/client");
    const words = new FailureDescriber(library, new Redaction(config));
    const transport = await openTransport(config, setup, library).catch((thrown: unknown) => {
      throw words.describe(thrown);
    });
    const client = newClient(library, setup);
    const connection = new McpConnection(config.name, client, transport, setup.clock, words);
    try {
      await connection.#begin(signal);
      return connection;
    } catch (thrown) {
      // Whatever a server can fail with while it is met; the reason is kept, the rest is cleaned up.
      const isEnd = !signal.aborted && words.isConnectionEnd(thrown);
      await connection.close();
      if (isEnd) throw new McpFailure(transport.closeReason, { cause: thrown });
      const { message } = signal.aborted ? new McpFailure(String(signal.reason)) : words.describe(thrown);
      throw new McpFailure(`${message} ${transport.diagnostics}`.trim(), { cause: thrown });
    }
  }

  get tools(): ToolList {
    return this.#toolList;
  }

  get hasResources(): boolean {
    return this.#client.getServerCapabilities()?.resources !== undefined;
  }

  /** Asks for the tools again if the server said that they changed. */
  async refreshTools(signal: AbortSignal): Promise<void> {
    if (!this.#toolsChanged || this.#client.getServerCapabilities()?.tools === undefined) return;
    this.#toolsChanged = false;
    const list = new ToolList();
    for await (const tool of this.#listed("tools/list", "tools", signal)) {
      list.add(tool);
      if (list.isFull) break;
    }
    this.#toolList = list;
  }

  /** The resources or their templates, as the server wrote them; whoever reads them decides when it is enough. */
  resources(kind: "resources" | "resourceTemplates", signal: AbortSignal): AsyncIterable<unknown> {
    const method = kind === "resources" ? "resources/list" : "resources/templates/list";
    return this.#listed(method, kind, signal);
  }

  /** The contents of a resource, as the server wrote them. */
  readResource(uri: string, listener: CallListener): Promise<unknown> {
    return this.#call({ method: "resources/read", params: { uri } }, listener);
  }

  /** The result of a tool, as the server wrote it. Rejects with an McpFailure if there is none. */
  callTool(tool: string, input: Readonly<Record<string, unknown>>, listener: CallListener): Promise<unknown> {
    return this.#call({ method: "tools/call", params: { name: tool, arguments: input } }, listener);
  }

  /** Ends it. Resolves when nothing of it is left; never rejects. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const connecting = this.#client.connect(this.#transport, { signal, timeout: LONGEST_TIMER });
    await Promise.race([connecting, rejectOnAbort(signal)]);
    await this.refreshTools(signal);
  }

  async *#listed(method: string, key: string, signal: AbortSignal): AsyncGenerator<unknown, void, void> {
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await this.#request({ method, params }, signal, RESPONSE_TIMEOUT_MS);
      const entries = result[key];
      if (Array.isArray(entries)) yield* entries;
      const { nextCursor } = result;
      if (typeof nextCursor !== "string" || nextCursor === cursor) return;
      cursor = nextCursor;
    }
  }

  /** Makes a call, and once more if the server wants the user to open an address first. */
  async #call(request: Request, listener: CallListener): Promise<unknown> {
    const make = () => this.#request(request, listener.signal, IDLE_TIMEOUT_MS, listener);
    return make().catch(async (thrown: unknown) => {
      const addresses = thrown instanceof McpFailure ? this.#words.requiredUrls(thrown) : [];
      if (addresses.length === 0 || addresses.length > MOST_ADDRESSES) throw thrown;
      for (const address of addresses) {
        const { action } = await answerElicitation(
          `The MCP server ${this.#server}`,
          { ...address, mode: "url" },
          listener.ask,
        );
        if (action !== "accept") throw thrown;
      }
      return make();
    });
  }

  async #request(
    request: Request,
    signal: AbortSignal,
    limitMs: number,
    listener?: CallListener,
  ): Promise<Record<string, unknown>> {
    const stop = new AbortController();
    // The reason goes to the server as it is, so it says no more than that.
    const onAbort = () => stop.abort("The call was stopped.");
    const late = `It did not answer within ${limitMs / 1000} seconds.`;
    const deadline = new IdleTimeout(this.#clock, limitMs, () => stop.abort(late));
    const leave = listener === undefined ? () => {} : this.#calls.begin(listener.ask, deadline);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const onprogress = (update: Progress) => {
      deadline.restart();
      listener?.progress(update);
    };
    try {
      return await this.#client.request(request, ANY_RESULT, {
        signal: stop.signal,
        timeout: LONGEST_TIMER,
        ...(listener === undefined ? {} : { onprogress }),
      });
    } catch (thrown) {
      // Whatever a call can fail with, put into words once.
      throw stop.signal.aborted ? new McpFailure(String(stop.signal.reason)) : await this.#failed(thrown);
    } finally {
      signal.removeEventListener("abort", onAbort);
      deadline.end();
      leave();
    }
  }

  /** A connection that does not carry messages any more is given up, so that the next turn makes a new one. */
  async #failed(thrown: unknown): Promise<McpFailure> {
    if (this.#words.isConnectionEnd(thrown)) {
      await this.close();
      return new McpFailure(this.#transport.closeReason, { cause: thrown });
    }
    const failure = this.#words.describe(thrown);
    if (failure === thrown || this.#words.isServerError(thrown)) return failure;
    this.#end(failure.message);
    void this.close();
    return failure;
  }
}

/** What a model could be asked by a server is not offered: only the user of this agent talks to its model. */
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
