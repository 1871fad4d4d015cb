import assert from "node:assert/strict";
import { METHODS, type Method, type ParamsInput, type Result, type Turn } from "@flint/protocol";
import type { WireClient, WireExit, WireMessage } from "@flint/testkit";
import { scriptText } from "../server/script-text.ts";

/** The two programs under test: the real command, and the one whose agent plays scripts. */
export type ServerKind = "flint" | "scripted";

const ALIVE_MS = 1_000;
const TURN_MS = 60_000;

/** A server under test, seen through one connection, with the words of the Flint wire. */
export class TortureServer {
  readonly wire: WireClient;
  readonly kind: ServerKind;
  #aliveThread: string | undefined;

  constructor(wire: WireClient, kind: ServerKind) {
    this.wire = wire;
    this.kind = kind;
  }

  /** The number of its process. */
  get pid(): number {
    const { pid } = this.wire;
    if (pid === undefined) throw new Error("This connection does not know the process of its server.");
    return pid;
  }

  /** Calls a method; the result must be what the protocol says. */
  async call<Name extends Method>(
    method: Name,
    params: ParamsInput<Name>,
    withinMs = TURN_MS,
  ): Promise<Result<Name>> {
    const result = await this.wire.request(method, params as object, { withinMs });
    // The row of a method holds the schema of that method's own result.
    return METHODS[method].result.parse(result) as Result<Name>;
  }

  async initialize(): Promise<void> {
    const capabilities = { experimentalApi: true };
    await this.call("initialize", { clientInfo: { name: "torture", version: "1" }, capabilities });
    this.wire.notify("initialized", {});
  }

  /** Makes a thread and gives its id. */
  async startThread(params: ParamsInput<"thread/start"> = {}): Promise<string> {
    return (await this.call("thread/start", params)).thread.id;
  }

  /** Begins a turn and gives its id. */
  async startTurn(threadId: string, text: string): Promise<string> {
    const { turn } = await this.call("turn/start", { threadId, input: [{ type: "text", text }] });
    assert(turn !== undefined, "turn/start gave no turn");
    return turn.id;
  }

  /** The end of a turn, as it was sent. */
  async turnCompleted(turnId: string, withinMs = TURN_MS): Promise<Turn> {
    const message = await this.wire.waitFor((candidate) => completedTurn(candidate)?.id === turnId, {
      withinMs,
    });
    const turn = completedTurn(message);
    assert(turn !== undefined);
    return turn;
  }

  /** The first message with this method in a turn that continues; fails if the turn ends before. */
  async during(turnId: string, method: string, after = 0): Promise<WireMessage> {
    const message = await this.wire.waitFor(
      (candidate) => candidate.method === method || completedTurn(candidate)?.id === turnId,
      { after },
    );
    const { status, error } = completedTurn(message) ?? {};
    assert.equal(message.method, method, `the turn was ${status} before ${method}: ${error?.message}`);
    return message;
  }

  /** Runs a turn to its end. */
  async runTurn(threadId: string, text: string): Promise<Turn> {
    return this.turnCompleted(await this.startTurn(threadId, text));
  }

  /** The last turn of a thread, from the log. */
  async lastTurn(threadId: string): Promise<Turn> {
    const { turns } = await this.call("thread/read", { threadId, includeTurns: true, limit: 1 });
    const turn = turns?.at(-1);
    assert(turn !== undefined, `thread ${threadId} has no turn`);
    return turn;
  }

  /** Fails unless the server answers within a second and completes a new turn. */
  async expectAlive(slack = 1): Promise<void> {
    const { data } = await this.call("model/list", {}, ALIVE_MS * slack);
    assert(data.length > 0, "model/list is empty");
    this.#aliveThread ??= await this.startThread();
    const text = this.kind === "scripted" ? scriptText({ text: "alive" }) : "hello";
    const turn = await this.runTurn(this.#aliveThread, text);
    assert.equal(turn.status, "completed", `a new turn must complete: ${turn.error?.message}`);
  }

  /** Ends the process at once, as a crash does. */
  async crash(): Promise<void> {
    this.wire.kill("SIGKILL");
    await this.wire.exited;
  }

  /** Ends the input and waits until the process has ended. */
  async stop(): Promise<WireExit> {
    this.wire.end();
    return this.wire.exited;
  }

  /** All that came with this method so far. */
  received(method: string): readonly WireMessage[] {
    return this.wire.messages.filter((message) => message.method === method);
  }
}

/** The turn that a message says has ended. */
function completedTurn(message: WireMessage): Turn | undefined {
  if (message.method !== "turn/completed") return undefined;
  // Every line is checked against the vocabulary at the end of the case.
  return (message.params as { turn: Turn }).turn;
}
