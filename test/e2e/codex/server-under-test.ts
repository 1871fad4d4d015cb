import { PassThrough } from "node:stream";
import type { Engine } from "@flint/core";
import { ClientConnection } from "@flint/frontends";
import { codexFrontend } from "@flint/frontends/codex";
import { streamTransport } from "@flint/rpc/node";
import { composeEngine } from "@flint/server";
import {
  type ScriptedDriver,
  type ScriptedOptions,
  scriptedDriver,
  temporaryFolder,
  WireClient,
} from "@flint/testkit";
import { onTestFinished } from "vitest";

/** Any object of the wire. */
export type Fields = Readonly<Record<string, unknown>>;

/** Options of the scripted agent, and the agents beside it. */
export interface UnderTestOptions extends ScriptedOptions {
  readonly otherDrivers?: readonly ScriptedDriver[];
}

/** An engine with a scripted agent behind the Codex front end, and any number of clients. */
export class CodexServerUnderTest {
  readonly cwd: string;
  readonly driver: ScriptedDriver;
  readonly engine: Engine;
  readonly #frontend = codexFrontend();

  private constructor(cwd: string, driver: ScriptedDriver, engine: Engine) {
    this.cwd = cwd;
    this.driver = driver;
    this.engine = engine;
  }

  static async open(
    atEnd: (cleanUp: () => Promise<void>) => void,
    options: UnderTestOptions = {},
  ): Promise<CodexServerUnderTest> {
    return CodexServerUnderTest.openIn((await temporaryFolder()).path, atEnd, options);
  }

  /** The same over an existing folder, such as that of a server that has ended. */
  static openIn(
    path: string,
    atEnd: (cleanUp: () => Promise<void>) => void,
    { otherDrivers = [], ...options }: UnderTestOptions = {},
  ): CodexServerUnderTest {
    const driver = scriptedDriver(options);
    const drivers = [driver, ...otherDrivers];
    const engine = composeEngine({ root: path, cwd: path, drivers, approvalPolicy: "always" });
    atEnd(() => engine.close());
    return new CodexServerUnderTest(path, driver, engine);
  }

  /** A connection that is not initialized. */
  connect(): WireClient {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    new ClientConnection(this.#frontend, this.engine, streamTransport(toServer, toClient));
    return WireClient.over(toClient, toServer);
  }

  /** A connection that is initialized. */
  async client(capabilities: object = { experimentalApi: true }): Promise<WireClient> {
    const client = this.connect();
    await client.request("initialize", { clientInfo: { name: "probe", version: "1" }, capabilities });
    return client;
  }
}

/** A server for the running test. */
export function openServer(options: UnderTestOptions = {}): Promise<CodexServerUnderTest> {
  return CodexServerUnderTest.open(onTestFinished, options);
}

/** The result of a request, to be looked into by name. */
export async function ask(client: WireClient, method: string, params: object = {}): Promise<Fields> {
  return fields(await client.request(method, params));
}

/** Any value as an object that can be looked into. */
export function fields(value: unknown): Fields {
  return Object(value);
}

/** The id of a new thread. */
export async function startThread(client: WireClient, params: object = {}): Promise<string> {
  const { thread } = await ask(client, "thread/start", params);
  return String(fields(thread).id);
}

/** Begins a turn and gives its id. */
export async function startTurn(
  client: WireClient,
  threadId: string,
  text: string,
  more: object = {},
): Promise<string> {
  const input = [{ type: "text", text }];
  const { turn } = await ask(client, "turn/start", { threadId, input, ...more });
  return String(fields(turn).id);
}

/** Resolves when a turn has ended. */
export function turnEnd(client: WireClient, turnId: string): Promise<Fields> {
  return client.waitFor(
    ({ method, params }) => method === "turn/completed" && fields(fields(params).turn).id === turnId,
  );
}

/** The names of what a client received, in order, without repetitions. */
export function received(client: WireClient, after = 0): string[] {
  const names = client.messages.slice(after).map(({ method, params, id }) => {
    const { status, item } = fields(params);
    const details = [fields(status).type, ...listOf(fields(status).activeFlags), fields(item).type];
    return [method ?? `answer ${id}`, ...details.filter((detail) => detail !== undefined)].join(" ");
  });
  return names.filter((name, index) => name !== names[index - 1]);
}

/** Any value as a list that can be looked into. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Resolves with the next request to the client. */
export function asked(client: WireClient, after = 0): Promise<Fields> {
  return client.waitFor(({ method, id }) => id !== undefined && method !== undefined, { after });
}
