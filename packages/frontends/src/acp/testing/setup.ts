import {
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  client,
  type RequestPermissionRequest,
  type SessionUpdate,
  type Stream,
} from "@agentclientprotocol/sdk";
import type { AgentRequestResponsesByMethod as Answers } from "@agentclientprotocol/sdk/unstable";
import type { Engine } from "@flint/core";
import { memoryPair, type Transport } from "@flint/rpc";
import { composeEngine, type ServerOptions } from "@flint/server";
import { type ScriptedOptions, scriptedDriver, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { ClientConnection as Connection } from "../../shared/client-connection.ts";
import type { Frontend } from "../../shared/frontend.ts";
import { type AcpOptions, acpFrontend } from "../frontend.ts";
import { MessageCheck, type WireMessage } from "./schema-check.ts";

type RequestOptions = { readonly cancellationSignal?: AbortSignal };

/** An answer to a request for permission: the kind of the option to choose. */
export type Choice = (request: RequestPermissionRequest, signal: AbortSignal) => Promise<string> | string;

/** How a client differs from one that can nothing and allows everything once. */
export interface ClientWishes {
  /** What it calls itself. */
  readonly name?: string;
  readonly capabilities?: ClientCapabilities | undefined;
  readonly permission?: Choice;
  /** What it has open, by path. */
  readonly files?: ReadonlyMap<string, string>;
  readonly elicitation?: (request: CreateElicitationRequest) => unknown;
}

/** The client of the official package, at a door, with everything that it was sent. */
export class AcpClient {
  readonly connection: ClientConnection;
  readonly updates: SessionUpdate[] = [];
  /** Everything that the door sent, in order, as it was on the wire. */
  readonly wire: WireMessage[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly check = new MessageCheck(1);
  readonly #waiting: (() => void)[] = [];

  constructor(transport: Transport, wishes: ClientWishes = {}) {
    const app = client({ name: "test" })
      .onNotification("session/update", ({ params }) => {
        this.updates.push(params.update);
        this.#wake();
      })
      .onRequest("session/request_permission", async ({ params, signal }) => {
        this.permissions.push(params);
        this.#wake();
        const kind = await (wishes.permission ?? (() => "allow_once"))(params, signal);
        const option = params.options.find((offered) => offered.kind === kind || offered.optionId === kind);
        if (option === undefined) return { outcome: { outcome: "cancelled" } };
        return { outcome: { outcome: "selected", optionId: option.optionId } };
      });
    const { elicitation, files } = wishes;
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
    this.connection = app.connect(messageStream(transport, this.check, this.wire, () => this.#wake()));
  }

  /** Asks the door by the name of a method. The official validators check that the answer is of its type. */
  request<Method extends keyof Answers>(
    method: Method,
    params: object,
    options?: RequestOptions,
  ): Promise<Answers[Method]>;
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>;
  request(method: string, params: object, options?: RequestOptions): Promise<unknown> {
    return this.connection.agent.request(method, params, options);
  }

  notify(method: string, params: object): Promise<void> {
    return this.connection.agent.notify(method, params);
  }

  hello(clientCapabilities: ClientCapabilities = {}, name = "test"): Promise<unknown> {
    return this.request("initialize", {
      protocolVersion: 1,
      clientCapabilities,
      clientInfo: { name, version: "1" },
    });
  }

  async begin(cwd: string): Promise<string> {
    const { sessionId } = await this.request("session/new", { cwd, mcpServers: [] });
    return sessionId;
  }

  prompt(sessionId: string, text: string): Promise<{ stopReason: string }> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Resolves with what is looked for, as soon as it is there. */
  async until<Value>(look: () => Value | undefined): Promise<Value> {
    for (;;) {
      const found = look();
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
  get said(): string {
    return this.of("agent_message_chunk")
      .map(({ content }) => (content.type === "text" ? content.text : `[${content.type}]`))
      .join("");
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** A server whose agents follow scripts, with the ACP door, and clients for it. */
export async function acpBench(
  scripted: ScriptedOptions,
  { door: doorOptions = {}, ...options }: ServerOptions & { readonly door?: AcpOptions } = {},
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
  const frontend = acpFrontend(doorOptions);
  const newClient = (wishes?: ClientWishes) => connect(engine, frontend, wishes);
  return { path, driver, engine, frontend, connect: newClient };
}

/** A client that has said hello. Everything it is sent fits the schema when the test ends. */
async function connect(engine: Engine, frontend: Frontend, wishes: ClientWishes = {}): Promise<AcpClient> {
  const [ours, theirs] = memoryPair();
  new Connection(frontend, engine, ours);
  const acp = new AcpClient(theirs, wishes);
  onTestFinished(() => {
    acp.connection.close();
    expect(acp.check.problems).toEqual([]);
  });
  await acp.hello(wishes.capabilities, wishes.name);
  return acp;
}

/** The transport as the official package wants it: whole messages in both directions. */
export function messageStream(
  transport: Transport,
  check: MessageCheck,
  wire: WireMessage[],
  onMessage: () => void,
): Stream {
  let rest = "";
  let isOver = false;
  const readable = new ReadableStream({
    cancel: () => {
      isOver = true;
    },
    start: (controller) => {
      transport.start({
        chunk: (bytes) => {
          const lines = (rest + (typeof bytes === "string" ? bytes : Buffer.from(bytes).toString())).split(
            "\n",
          );
          rest = lines.pop() ?? "";
          for (const line of lines) {
            const message = JSON.parse(line);
            wire.push(message);
            check.received(message);
            if (!isOver) controller.enqueue(message);
            onMessage();
          }
        },
        closed: () => {
          if (!isOver) controller.close();
          isOver = true;
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
