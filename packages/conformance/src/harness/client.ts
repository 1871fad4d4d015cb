import type { TestContext } from "../test-context.ts";
import { at, NotOffered, shown, textAt } from "../wire/pattern.ts";
import type { Message, Wire } from "../wire/wire.ts";

/** The connection that the checks share. This wire needs no handshake. */
export async function harnessWire(trial: TestContext): Promise<Wire> {
  return trial.shared(async () => {});
}

/** A thread for one check. */
export class HarnessThread {
  readonly wire: Wire;
  readonly id: string;
  readonly #trial: TestContext;

  private constructor(trial: TestContext, wire: Wire, id: string) {
    this.#trial = trial;
    this.wire = wire;
    this.id = id;
  }

  static async create(trial: TestContext): Promise<HarnessThread> {
    const wire = await harnessWire(trial);
    const created = await wire.result("thread.create", { title: "A title", directory: trial.cwd });
    return new HarnessThread(trial, wire, textAt(created, "thread", "threadId"));
  }

  /** Begins a turn and resolves with its id as soon as the request is answered. */
  async begin(text: string): Promise<string> {
    const params = { threadId: this.id, input: [{ type: "text", text }] };
    return textAt(await this.wire.result("turn.start", params), "turnId");
  }

  /** The turn as `turn.completed` or `turn.error` brings it. */
  async ended(turnId: string): Promise<unknown> {
    const isEnd = ({ method, params }: Message): boolean =>
      (method === "turn.completed" || method === "turn.error") && at(params, "turn", "turnId") === turnId;
    const end = await this.wire.waitFor(isEnd, { what: `the end of the turn ${turnId}` });
    return at(end, "params", "turn");
  }

  /** Begins a turn that needs an approval, and waits until it is asked for. */
  async provoke(): Promise<{ readonly turnId: string; readonly requestId: string; readonly name: string }> {
    const name = this.#trial.name();
    const prompt = `run \`touch ${name}\``;
    const after = this.wire.mark;
    const turnId = await this.begin(prompt);
    const isEither = ({ method, params }: Message): boolean =>
      (method === "approval.requested" && at(params, "turnId") === turnId) ||
      (method === "turn.completed" && at(params, "turn", "turnId") === turnId);
    const told = await this.wire.waitFor(isEither, { after, what: "approval.requested" });
    if (told.method === "approval.requested")
      return { turnId, requestId: textAt(told, "params", "requestId"), name };
    throw new NotOffered(`the model ended its turn on ${shown(prompt)} without asking for anything`);
  }
}
