import type { WireClient, WireMessage } from "@flint/testkit";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { fields } from "./server-under-test.ts";

/** Notifications of the real server that Flint has no counterpart for, at any point. */
const ASIDES = new Set([
  "account/rateLimits/updated",
  "deprecationNotice",
  "mcpServer/startupStatus/updated",
  "remoteControl/status/changed",
  "thread/goal/cleared",
  "thread/name/updated",
  "thread/readState/changed",
  "thread/started",
  "turn/diff/updated",
]);

/** Sends the same to any server with the protocol of Codex, and records what it sends by step. */
export class SameScript {
  readonly outcomes = new Map<string, Outcome>();
  readonly #client: WireClient;
  readonly #cwd: string;
  #nextId = 0;

  constructor(client: WireClient, cwd: string) {
    this.#client = client;
    this.#cwd = cwd;
  }

  async play(): Promise<void> {
    await this.#errorsBefore();
    const clientInfo = { name: "probe", version: "1" };
    await this.#ask("initialize", { clientInfo, capabilities: { experimentalApi: true } });
    await this.#errors();
    const threadId = idOf(fields(await this.#ask("thread/start", this.#opening())).thread);
    const turnId = await this.#reading(threadId);
    await this.#managing(threadId);
    await this.#approvals(threadId);
    await this.#branches(threadId, turnId);
    await this.#putAway("thread/archive", "thread/archived");
    await this.#putAway("thread/delete", "thread/deleted");
    await this.#leaving(threadId);
  }

  #opening(): object {
    return { cwd: this.#cwd, approvalPolicy: "untrusted", sandbox: "read-only" };
  }

  async #errorsBefore(): Promise<void> {
    await this.#ask("thread/list", {}, "thread/list before initialize");
    await this.#ask("initialize", {}, "initialize without clientInfo");
  }

  async #errors(): Promise<void> {
    const missing = "01990000-0000-7000-8000-000000000000";
    await this.#ask("initialize", { clientInfo: { name: "probe", version: "1" } }, "initialize twice");
    await this.#ask("thread/start", { approvalPolicy: "sometimes" }, "a policy that does not exist");
    await this.#ask("thread/start", { cwd: 7 }, "a number for a folder");
    await this.#ask("turn/start", { threadId: missing }, "turn/start without input");
    await this.#ask("thread/list", { cursor: "zzz" }, "a cursor that was made up");
    await this.#ask(
      "review/start",
      { threadId: missing, target: { type: "all" } },
      "a target that does not exist",
    );
    for (const [step, piece] of Object.entries(NO_INPUT)) {
      await this.#ask("turn/start", { threadId: missing, input: [piece] }, step);
    }
    for (const method of OF_A_THREAD) {
      await this.#ask(method, { threadId: "nope", ...NEEDED[method] }, `${method} of no UUID`);
      await this.#ask(method, { threadId: missing, ...NEEDED[method] }, `${method} of missing`);
    }
  }

  /** A turn, and all ways to read it. */
  async #reading(threadId: string): Promise<string> {
    const turnId = await this.#turn("a plain turn", threadId, "hello");
    await this.#ask("model/list", {});
    await this.#ask("thread/read", { threadId });
    await this.#ask("thread/read", { threadId, includeTurns: true }, "thread/read with turns");
    await this.#ask("thread/list", {});
    await this.#ask("thread/loaded/list", {});
    for (const itemsView of ["notLoaded", "summary", "full"]) {
      await this.#ask("thread/turns/list", { threadId, itemsView }, `thread/turns/list ${itemsView}`);
    }
    for (const sortDirection of ["asc", "desc"]) {
      await this.#ask("thread/items/list", { threadId, sortDirection }, `thread/items/list ${sortDirection}`);
    }
    await this.#ask("thread/resume", { threadId, excludeTurns: true });
    await this.#ask("thread/resume", { threadId }, "thread/resume with turns");
    await this.#turn("a compaction", threadId, () => this.#ask("thread/compact/start", { threadId }));
    return turnId;
  }

  async #managing(threadId: string): Promise<void> {
    await this.#ask("thread/name/set", { threadId, name: "  " }, "an empty name");
    await this.#ask("thread/name/set", { threadId, name: "A name" });
    await this.#ask("thread/settings/update", { threadId, approvalPolicy: "untrusted" });
    await this.#ask("thread/goal/get", { threadId }, "thread/goal/get of none");
    await this.#ask("thread/goal/set", { threadId, objective: "win", status: "paused" });
    await this.#ask("thread/goal/get", { threadId });
    await this.#ask("thread/goal/clear", { threadId });
    await this.#ask("thread/goal/clear", { threadId }, "thread/goal/clear of none");
    await this.#ask("thread/queue/list", { threadId });
    await this.#ask("thread/backgroundTerminals/list", { threadId });
    await this.#ask("thread/backgroundTerminals/clean", { threadId });
    await this.#ask("turn/interrupt", { threadId, turnId: "x" }, "turn/interrupt of nothing");
    await this.#ask("turn/steer", { threadId, expectedTurnId: "x", input: HELLO }, "turn/steer of nothing");
    await this.#ask(
      "turn/steer",
      { threadId, expectedTurnId: "", input: HELLO },
      "turn/steer without a name",
    );
  }

  async #approvals(threadId: string): Promise<void> {
    for (const decision of ["accept", "decline", "cancel"]) {
      await this.#turn(
        `a command and ${decision}`,
        threadId,
        `run \`touch ${decision}\``,
        async (turnId, after) => {
          const asked = await this.#client.waitForMethod("item/commandExecution/requestApproval", { after });
          this.outcomes.set(`the request for ${decision}`, { result: asked.params });
          if (decision === "accept") await this.#whileItWaits(threadId, turnId);
          this.#client.answer(asked.id, { decision });
        },
      );
    }
    await this.#turn("a turn that fails", threadId, "fail");
  }

  async #whileItWaits(threadId: string, turnId: string): Promise<void> {
    const wrong = { threadId, expectedTurnId: "wrong", input: HELLO };
    await this.#ask("turn/steer", wrong, "turn/steer of another turn");
    await this.#ask("turn/interrupt", { threadId, turnId: "wrong" }, "turn/interrupt of another turn");
    await this.#ask("thread/read", { threadId }, "thread/read of a thread that waits");
    const joined = fields(
      await this.#ask("turn/start", { threadId, input: HELLO }, "turn/start of a busy thread"),
    );
    this.outcomes.set("a busy thread continues its turn", { result: idOf(joined.turn) === turnId });
    await this.#ask("turn/steer", { threadId, expectedTurnId: turnId, input: HELLO });
  }

  async #branches(threadId: string, turnId: string): Promise<void> {
    const fork = idOf(fields(await this.#ask("thread/fork", { threadId, excludeTurns: true })).thread);
    await this.#ask("thread/archive", { threadId: fork });
    await this.#ask("thread/resume", { threadId: fork }, "thread/resume of the archive");
    await this.#ask("thread/list", { archived: true }, "thread/list of the archive");
    await this.#ask("thread/unarchive", { threadId: fork });
    await this.#ask("thread/delete", { threadId: fork });
    await this.#ask("thread/revert", { threadId, beforeTurnId: "x" }, "thread/revert to nowhere");
    await this.#ask("thread/revert", { threadId, beforeTurnId: turnId });
    const after = this.#client.mark;
    const target = { type: "custom", instructions: "Say hello" };
    await this.#ask("review/start", { threadId, target, delivery: "inline" });
    await this.#client.waitForMethod("turn/completed", { after });
  }

  /** Archives a thread, which stops everything that runs in it. */
  async #putAway(method: string, last: string): Promise<void> {
    const threadId = idOf(fields(await this.#ask("thread/start", this.#opening())).thread);
    const begun = this.#client.mark;
    const input = [{ type: "text", text: "run `touch busy`" }];
    await this.#ask("turn/start", { threadId, input });
    await this.#client.waitForMethod("item/commandExecution/requestApproval", { after: begun });
    const after = this.#client.mark;
    await this.#ask(method, { threadId }, `${method} of a busy thread`);
    const end = await this.#client.waitForMethod(last, { after });
    const names = this.#client.messages.slice(after, this.#client.messages.indexOf(end) + 1).map(nameOf);
    const order = names.filter(
      (name) => name === "" || /^(?:thread\/status|turn)/.test(name) || name === last,
    );
    this.outcomes.set(`the order of ${method} of a busy thread`, { order });
  }

  async #leaving(threadId: string): Promise<void> {
    await this.#ask("thread/unsubscribe", { threadId });
    await this.#ask("thread/unsubscribe", { threadId }, "thread/unsubscribe again");
  }

  async #ask(method: string, params: object, step: string = method): Promise<unknown> {
    this.#nextId += 1;
    const outcome = await outcomeOf(this.#client, this.#nextId, method, params);
    this.outcomes.set(step, outcome);
    return "result" in outcome ? outcome.result : undefined;
  }

  /** Runs a turn to its end and records the order of its messages. */
  async #turn(
    step: string,
    threadId: string,
    begin: string | (() => Promise<unknown>),
    during?: (turnId: string, after: number) => Promise<void>,
  ): Promise<string> {
    const after = this.#client.mark;
    const input = typeof begin === "string" ? [{ type: "text", text: begin }] : [];
    const begun =
      typeof begin === "string" ? await this.#ask("turn/start", { threadId, input }) : await begin();
    await during?.(idOf(fields(begun).turn), after);
    const ended = await this.#client.waitForMethod("turn/completed", { after });
    const end = this.#client.messages.indexOf(ended);
    const turnId = idOf(fields(ended.params).turn);
    const sent = this.#client.messages.slice(after, end + 1).filter((message) => isOfTurn(message, turnId));
    const order = sent.map(nameOf).filter((name, at, all) => name !== all[at - 1]);
    this.outcomes.set(step, { order });
    return turnId;
  }
}

const HELLO = [{ type: "text", text: "hello" }];

const NO_INPUT = {
  "input of a kind that does not exist": { type: "strange" },
  "input of no kind": {},
  "a text without text": { type: "text" },
  "a text that is null": { type: "text", text: null },
  "a mention without a path": { type: "mention", name: "a" },
};

const OF_A_THREAD = [
  "thread/read",
  "thread/resume",
  "thread/fork",
  "thread/archive",
  "thread/unarchive",
  "thread/delete",
  "thread/name/set",
  "thread/compact/start",
  "thread/turns/list",
  "thread/goal/get",
  "thread/goal/clear",
  "thread/unsubscribe",
  "thread/settings/update",
  "turn/start",
];

const NEEDED: Readonly<Record<string, object>> = {
  "thread/name/set": { name: "x" },
  "turn/start": { input: HELLO },
};

/**
 * Reports whether a message belongs to a turn. A command of the real server may outlive the turn it was begun
 * in.
 */
function isOfTurn({ method, params }: WireMessage, turnId: string): boolean {
  if (typeof method !== "string" || ASIDES.has(method)) return false;
  const { turnId: ofTurn, turn } = fields(params);
  return (ofTurn ?? fields(turn).id ?? turnId) === turnId;
}

/** The name of a message, with the details that the order is about. */
function nameOf({ method, params }: WireMessage): string {
  const { status, item, turn } = fields(params);
  const { type, activeFlags } = fields(status);
  const flags = Array.isArray(activeFlags) ? activeFlags : [];
  const details = [type, ...flags, fields(item).type, fields(turn).status].filter(
    (name) => name !== undefined,
  );
  return [method, ...details].join(" ");
}

function idOf(value: unknown): string {
  return String(fields(value).id);
}
