import { access } from "node:fs/promises";
import { join } from "node:path";
import type { CheckGroup } from "../check.ts";
import type { TestContext } from "../test-context.ts";
import {
  at,
  expectFit,
  Failed,
  formatValue,
  listAt,
  NotOffered,
  NUMBER,
  stringAt,
  UUID,
} from "../wire/pattern.ts";
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
    return new HarnessThread(trial, wire, stringAt(created, "thread", "threadId"));
  }

  /** Begins a turn and resolves with its id as soon as the request is answered. */
  async begin(text: string): Promise<string> {
    const params = { threadId: this.id, input: [{ type: "text", text }] };
    return stringAt(await this.wire.result("turn.start", params), "turnId");
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
    const received = await this.wire.waitFor(isEither, { after, what: "approval.requested" });
    if (received.method === "approval.requested")
      return { turnId, requestId: stringAt(received, "params", "requestId"), name };
    throw new NotOffered(`the model ended its turn on ${formatValue(prompt)} without asking for anything`);
  }
}

const HELLO = "Say hello";

/** Threads, turns and approvals from beginning to end. */
export const LIFECYCLE: CheckGroup = {
  about: "Threads, turns and approvals",
  checks: [
    {
      name: "thread.create answers with the thread, thread.created follows, and thread.list shows it",
      run: async (trial) => {
        const { wire, id } = await HarnessThread.create(trial);
        const isCreated = (message: object): boolean => at(message, "params", "thread", "threadId") === id;
        const created = await wire.waitFor(isCreated, { what: "thread.created" });
        const thread = { threadId: UUID, title: "A title", directory: trial.cwd, time: { created: NUMBER } };
        expectFit("thread.created", created, { method: "thread.created", params: { thread } });
        const ids = listAt(await wire.result("thread.list", {}), "threads").map((one) => at(one, "threadId"));
        if (!ids.includes(id)) throw new Failed(`thread.list shows ${formatValue(ids)}`);
      },
    },
    {
      name: "a turn is answered, then started, then its items come, and turn.completed is last",
      run: async (trial) => {
        const thread = await HarnessThread.create(trial);
        const after = thread.wire.mark;
        const turnId = await thread.begin(HELLO);
        expectFit("the turn", await thread.ended(turnId), {
          status: "completed",
          time: { completed: NUMBER },
        });
        const methods = thread.wire.since(after).map(({ method }) => method ?? "answer");
        const order = ["answer", "turn.started", "item.started", "item.completed", "turn.completed"];
        const positions = order.map((method) => methods.indexOf(method));
        const sorted = positions.every(
          (place, index) => place >= 0 && (index === 0 || place > (positions[index - 1] ?? -1)),
        );
        if (!sorted) throw new Failed(`the order was ${methods.join(", ")}`);
      },
    },
    {
      name: "the user's message and the agent's are items, and the agent's text comes in pieces",
      run: async (trial) => {
        const thread = await HarnessThread.create(trial);
        const after = thread.wire.mark;
        await thread.ended(await thread.begin(HELLO));
        const came = thread.wire.since(after);
        const types = came
          .filter(({ method }) => method === "item.completed")
          .map(({ params }) => at(params, "item", "type"));
        expectFit("the types of the items", types, ["user_message", "assistant_message"]);
        const pieces = came.filter(({ method }) => method === "item.delta");
        if (pieces.length === 0) throw new Failed("no item.delta came");
      },
    },
    {
      name: "thread.get returns every event, in order",
      run: async (trial) => {
        const thread = await HarnessThread.create(trial);
        const turnId = await thread.begin(HELLO);
        await thread.ended(turnId);
        const got = await thread.wire.result("thread.get", { threadId: thread.id });
        const types = listAt(got, "events").map((event) => at(event, "type"));
        expectFit("the first event", types[0], "thread.created");
        expectFit("the last event", types.at(-1), "turn.completed");
      },
    },
    {
      name: "a second turn while one runs is refused with -32002, and turn.cancel ends the first as cancelled",
      run: async (trial) => {
        const thread = await HarnessThread.create(trial);
        const { turnId } = await thread.provoke();
        const params = { threadId: thread.id, input: [{ type: "text", text: HELLO }] };
        await thread.wire.expectError("turn.start", params, { code: -32002 });
        expectFit("turn.cancel", await thread.wire.result("turn.cancel", { threadId: thread.id }), {
          ok: true,
        });
        expectFit("the turn", await thread.ended(turnId), { status: "cancelled" });
        await thread.wire.expectError("turn.cancel", { threadId: thread.id }, { code: -32003 });
      },
    },
    {
      name: "reject: it did not run, and the same approval cannot be answered again",
      run: async (trial) => {
        const thread = await HarnessThread.create(trial);
        const { turnId, requestId, name } = await thread.provoke();
        await thread.wire.result("approval.respond", { requestId, decision: "reject" });
        await thread.ended(turnId);
        await thread.wire.expectError("approval.respond", { requestId, decision: "once" }, { code: -32004 });
        const made = await access(join(trial.cwd, name)).then(
          () => true,
          () => false,
        );
        if (made) throw new Failed(`${name} was made although it was rejected`);
      },
    },
    {
      name: "once: it ran, and turn.completed follows",
      run: async (trial) => {
        const thread = await HarnessThread.create(trial);
        const { turnId, requestId, name } = await thread.provoke();
        await thread.wire.result("approval.respond", { requestId, decision: "once" });
        expectFit("the turn", await thread.ended(turnId), { status: "completed" });
        await access(join(trial.cwd, name));
      },
    },
  ],
};
