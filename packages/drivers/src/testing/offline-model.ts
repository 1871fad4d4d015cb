import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModelServer } from "@flint/offline-model/http";

/** A request of an agent to the model. */
export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Steps of a script for the offline model, as its files have them. */
export type OfflineScript = readonly unknown[];

/** The scripts of a model that fails once in each way. */
const FAILURES = {
  badRequest: [{ error: { status: 400, message: "The lamp does not fit." } }],
  rateLimit: [{ error: { status: 429, message: "One lamp at a time.", retry_after: 0.05 } }],
  overloaded: [{ error: { status: 529, message: "Too many lamps." } }],
  cutStream: [{ text: "Half of a" }, { cut: true }],
} as const satisfies Readonly<Record<string, OfflineScript>>;

/** The ways in which the model can be made to fail. */
export type ModelFailureKind = keyof typeof FAILURES;

const LOOPBACK = "127.0.0.1";

/** The offline model over HTTP for one test: it records its requests and can be made to fail. */
export class OfflineModelServer {
  readonly requests: ModelRequest[] = [];
  #model: ModelServer;
  readonly #front: Server;
  readonly #failing: ModelServer[] = [];
  readonly #started: ModelServer[] = [];

  private constructor(model: ModelServer) {
    this.#model = model;
    this.#front = createServer((request, response) => void this.#answer(request, response));
  }

  /** Listens when this resolves. Follows its rules, or a script. The caller closes it. */
  static async start(script?: OfflineScript): Promise<OfflineModelServer> {
    const server = new OfflineModelServer(await modelServer(script));
    await new Promise<void>((resolve) => server.#front.listen(0, LOOPBACK, resolve));
    return server;
  }

  /** The address on which it listens, without a slash and without a version at the end. */
  get url(): string {
    const address = this.#front.address();
    return `http://${LOOPBACK}:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  /** The name of the model that the latest request of an agent at work was for. */
  get latestModel(): unknown {
    return this.requests.findLast(isWork)?.body.model;
  }

  /** The next request of an agent at work fails in this way; small tasks on the side, such as titles, do not. */
  async fail(kind: ModelFailureKind): Promise<void> {
    const failing = await modelServer([FAILURES[kind]]);
    this.#started.push(failing);
    this.#failing.push(failing);
  }

  /** Begins another script, or the rules again, for an agent that works on with the same model; forgets what was asked. */
  async follow(script?: OfflineScript): Promise<void> {
    const next = await modelServer(script === undefined ? undefined : withCallIds(script));
    this.#started.push(this.#model);
    this.#model = next;
    this.#failing.length = 0;
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#front.close(() => resolve()));
    this.#front.closeAllConnections();
    await Promise.all([closed, this.#model.close(), ...this.#started.map((server) => server.close())]);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A caller that goes away in the middle of its question gets no answer.
    const text = await textOf(request).catch(() => undefined);
    if (text === undefined) return;
    const { url: path = "/", headers } = request;
    const asked: ModelRequest = { path, headers, body: objectIn(text) };
    this.requests.push(asked);
    const failing = isWork(asked) ? this.#failing.shift() : undefined;
    forward(request, text, (failing ?? this.#model).url, response);
  }
}

/** Starts the offline model for the running test, and ends it with the test: `offlineModel(onTestFinished)`. */
export async function offlineModel(
  atEnd: (cleanUp: () => Promise<void>) => void,
  script?: OfflineScript,
): Promise<OfflineModelServer> {
  const server = await OfflineModelServer.start(script);
  atEnd(() => server.close());
  return server;
}

/** An agent takes a call with an id that it has seen for one that was broken off, and every script counts from one. */
function withCallIds(script: OfflineScript): OfflineScript {
  return JSON.parse(JSON.stringify(script), (_key, part: unknown) =>
    typeof part === "object" && part !== null && "call" in part ? { id: randomUUID(), ...part } : part,
  );
}

async function modelServer(steps: OfflineScript | undefined): Promise<ModelServer> {
  if (steps === undefined) return ModelServer.start();
  const folder = await mkdtemp(join(tmpdir(), "flint-script-"));
  const script = join(folder, "script.json");
  await writeFile(script, JSON.stringify({ steps }));
  // It is read to its end before the server listens.
  return ModelServer.start({ script }).finally(() => rm(folder, { recursive: true }));
}

/** Reports whether an agent works on a turn: Claude sends tools only then, and Codex sends nothing else. */
function isWork({ path, body }: ModelRequest): boolean {
  return path.endsWith("/responses") || (Array.isArray(body.tools) && body.tools.length > 0);
}

function forward(
  { method, url, headers }: IncomingMessage,
  text: string,
  to: string,
  answer: ServerResponse,
) {
  const { "transfer-encoding": _, ...kept } = headers;
  const length = { "content-length": String(Buffer.byteLength(text)) };
  const passed = { ...kept, ...length, host: new URL(to).host };
  const asking = sendRequest(`${to}${url ?? "/"}`, { method, headers: passed, agent: false }, (response) => {
    answer.writeHead(response.statusCode ?? 500, response.headers);
    response.pipe(answer);
    // What the model breaks off is broken off for the caller too.
    response.once("aborted", () => answer.socket?.destroySoon());
  });
  asking.once("error", () => answer.destroy());
  answer.once("close", () => asking.destroy());
  asking.end(text);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString("utf8");
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  // Expected: requests without a body, and bodies that are no JSON; the model itself refuses those.
  try {
    return Object.fromEntries(Object.entries(Object(JSON.parse(text))));
  } catch {
    return {};
  }
}
