import {
  type ClientCapabilities,
  type CreateElicitationRequest,
  client,
  type ClientConnection as OfficialConnection,
  type RequestPermissionRequest,
  type SessionUpdate,
  type Stream,
} from "@agentclientprotocol/sdk";
import type { AgentRequestResponsesByMethod as Responses } from "@agentclientprotocol/sdk/unstable";
import { memoryPair, type Transport } from "@flint/rpc";
import { composeEngine, type ServerOptions } from "@flint/server";
import { type ScriptedOptions, scriptedDriver, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { type AcpOptions, acpFrontend } from "../frontend.ts";
import { MessageCheck, type WireMessage } from "./schema-check.ts";

type RequestOptions = { readonly cancellationSignal?: AbortSignal };

/** Answers a permission request with the kind of the option to choose. */
export type Choose = (request: RequestPermissionRequest, signal: AbortSignal) => Promise<string> | string;

/** Differences of a client from one that declares no capabilities and allows everything once. */
export interface AcpClientOptions {
  readonly name?: string;
  readonly capabilities?: ClientCapabilities | undefined;
  readonly permission?: Choose;
  /** The files it has open, by path. */
  readonly files?: ReadonlyMap<string, string>;
  readonly elicitation?: (request: CreateElicitationRequest) => unknown;
  /** Adds handlers of further requests. */
  readonly extend?: (app: ClientApp) => void;
}

/** The official client before it is connected. */
export type ClientApp = ReturnType<typeof client>;

/** The official client, with everything it was sent. */
export class AcpClient {
  readonly connection: OfficialConnection;
  readonly updates: SessionUpdate[] = [];
  /** Everything it was sent, in order, as it was on the wire. */
  readonly wire: WireMessage[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly check = new MessageCheck(1);
  readonly #waiting: (() => void)[] = [];
  readonly #transport: Transport;

  constructor(transport: Transport, options: AcpClientOptions = {}) {
    this.#transport = transport;
    const app = client({ name: "test" })
      .onNotification("session/update", ({ params }) => {
        this.updates.push(params.update);
        this.#wake();
      })
      .onRequest("session/request_permission", async ({ params, signal }) => {
        this.permissions.push(params);
        this.#wake();
        const kind = await (options.permission ?? (() => "allow_once"))(params, signal);
        const option = params.options.find((offered) => offered.kind === kind || offered.optionId === kind);
        if (option === undefined) return { outcome: { outcome: "cancelled" } };
        return { outcome: { outcome: "selected", optionId: option.optionId } };
      });
    const { elicitation, files } = options;
    if (files !== undefined) {
      app.onRequest("fs/read_text_file", ({ params }) => {
        const content = files.get(params.path);
        if (content === undefined) throw new Error("not open");
        return { content };
      });
    }
    if (elicitation !== undefined) {
      app.onRequest("elicitation/create", ({ params }) => elicitation(params) as never);
    }
    options.extend?.(app);
    this.connection = app.connect(messageStream(transport, this.check, this.wire, () => this.#wake()));
  }

  /** Sends a request. The official validators check the type of the response. */
  request<Method extends keyof Responses>(
    method: Method,
    params: object,
    options?: RequestOptions,
  ): Promise<Responses[Method]>;
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>;
  request(method: string, params: object, options?: RequestOptions): Promise<unknown> {
    return this.connection.agent.request(method, params, options);
  }

  notify(method: string, params: object): Promise<void> {
    return this.connection.agent.notify(method, params);
  }

  initialize(clientCapabilities: ClientCapabilities = {}, name = "test"): Promise<unknown> {
    return this.request("initialize", {
      protocolVersion: 1,
      clientCapabilities,
      clientInfo: { name, version: "1" },
    });
  }

  async newSession(cwd: string): Promise<string> {
    const { sessionId } = await this.request("session/new", { cwd, mcpServers: [] });
    return sessionId;
  }

  prompt(sessionId: string, text: string): Promise<{ stopReason: string }> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Ends the connection at once, as an editor does that crashes. */
  disconnect(): void {
    this.#transport.close();
  }

  /** Resolves with what `find` returns, as soon as that is not undefined. */
  async until<Value>(find: () => Value | undefined): Promise<Value> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  /** The updates of a kind so far. */
  of<Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind) {
    return this.updates.filter(
      (update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind,
    );
  }

  /** All text of the agent so far. */
  get agentText(): string {
    return this.of("agent_message_chunk")
      .map(({ content }) => (content.type === "text" ? content.text : `[${content.type}]`))
      .join("");
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** A server with a scripted agent, with the ACP front end and clients for it. */
export async function setUpAcp(
  scripted: ScriptedOptions,
  { acp = {}, ...options }: ServerOptions & { readonly acp?: AcpOptions } = {},
) {
  const { path } = await temporaryFolder();
  const driver = scriptedDriver(scripted);
  const engine = composeEngine({
    root: path,
    cwd: path,
    drivers: [driver],
    approvalPolicy: "always",
    durability: "relaxed",
    ...options,
  });
  onTestFinished(() => engine.close());
  const frontend = acpFrontend(acp);
  /** An initialized client. All messages it was sent are checked against the schema when the test ends. */
  const connect = async (clientOptions: AcpClientOptions = {}): Promise<AcpClient> => {
    const [ours, theirs] = memoryPair();
    new ClientConnection(frontend, engine, ours);
    const connected = new AcpClient(theirs, clientOptions);
    onTestFinished(() => {
      connected.connection.close();
      expect(connected.check.problems).toEqual([]);
    });
    await connected.initialize(clientOptions.capabilities, clientOptions.name);
    return connected;
  };
  return { path, driver, engine, frontend, connect };
}

/** A transport as the stream of whole messages that the official package takes. */
export function messageStream(
  transport: Transport,
  check: MessageCheck,
  wire: WireMessage[],
  onMessage: () => void,
): Stream {
  let rest = "";
  let isClosed = false;
  const readable = new ReadableStream({
    cancel: () => {
      isClosed = true;
    },
    start: (controller) => {
      transport.start({
        chunk: (bytes) => {
          const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString();
          const lines = (rest + text).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) {
            const message = JSON.parse(line);
            wire.push(message);
            check.received(message);
            if (!isClosed) controller.enqueue(message);
            onMessage();
          }
        },
        closed: () => {
          if (!isClosed) controller.close();
          isClosed = true;
        },
      });
    },
  });
  const writable = new WritableStream({
    write: (message) => {
      check.sent(message);
      transport.write(`${JSON.stringify(message)}\n`);
    },
    close: () => transport.close(),
    abort: () => transport.close(),
  });
  return { readable, writable };
}
