import type { Store, TurnContext, TurnOutcome } from "@flint/core/ports";
import { JsonlStore, MemoryStore } from "@flint/host/store";
import {
  DELTA_FIELDS,
  emptyThread,
  isDelta,
  type Result,
  reduceThread,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import {
  attachedState,
  BareDriver,
  Gate,
  settled,
  type TestClient,
  type TestEngine,
  temporaryFolder,
  testEngine,
  UnreliableStore,
} from "@flint/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** One thing that happens to a thread or to a subscriber. */
type Step = { readonly what: (typeof STEPS)[number]; readonly which: number; readonly pause: boolean };

const STEPS = [
  "start item",
  "stream",
  "stream",
  "stream",
  "complete item",
  "use tokens",
  "ask",
  "answer",
  "end turn",
  "name",
  "wait 60 ms",
  "snapshot",
  "resume",
  "leave and come back",
  "stall",
  "recover",
  "block disk",
  "free disk",
] as const;

const step = fc.record({ what: fc.constantFrom(...STEPS), which: fc.nat(5), pause: fc.boolean() });
const steps = fc.array(step, { minLength: 20, maxLength: 60, size: "max" });

/** So that there is always an item to stream into, and a subscriber beside the owner. */
const OPENING: readonly Step[] = (["start item", "snapshot", "resume", "start item"] as const).map(
  (what) => ({
    what,
    which: 0,
    pause: true,
  }),
);

/** A client with the state it folds from everything it was sent. */
class Watcher {
  readonly client: TestClient;
  state: ThreadState | undefined;
  #folded = 0;
  /** A returning client may be sent again what it saw before it was numbered. */
  readonly #mayRepeat: boolean;

  constructor(client: TestClient, earlier?: ThreadState) {
    this.client = client;
    this.state = earlier;
    this.#mayRepeat = earlier !== undefined;
  }

  begin(state: ThreadState): void {
    this.state ??= state;
  }

  fold(): ThreadState | undefined {
    if (this.state === undefined) return undefined;
    const { events } = this.client;
    for (const event of events.slice(this.#folded)) this.state = this.#next(this.state, event);
    this.#folded = events.length;
    return this.state;
  }

  #next(state: ThreadState, event: ThreadEvent): ThreadState {
    if (event.seq !== undefined) expect(event.seq, "numbers rise").toBeGreaterThan(state.seq);
    // A client that attaches while a request is open sees it in the snapshot, and is sent the request as well.
    const isKnown = state.approvals.some(
      (open) => event.type === "approval/requested" && open.id === event.data.approval.id,
    );
    if (isKnown) return event.seq === undefined ? state : { ...state, seq: event.seq };
    if (isDelta(event) && !this.#mayRepeat) {
      const { turnId, itemId, offset } = event.data;
      const item = state.turns.find((turn) => turn.id === turnId)?.items.find((known) => known.id === itemId);
      const text: unknown =
        item === undefined ? undefined : Reflect.get(item, DELTA_FIELDS.get(event.type) ?? "");
      expect(offset, "each piece begins where the text ends").toBe(String(text ?? "").length);
    }
    return reduceThread(state, event);
  }
}

/** A thread whose agent follows the steps, and its subscribers. */
class World {
  readonly store: UnreliableStore;
  readonly server: TestEngine;
  readonly owner: Watcher;
  readonly watchers: Watcher[];
  readonly joining: Promise<unknown>[] = [];
  threadId = "";
  #turn: TurnContext | undefined;
  #end: (outcome: TurnOutcome) => void = () => undefined;
  #items: string[] = [];
  #count = 0;
  #disk: Gate | undefined;

  constructor(inner: Store) {
    this.store = new UnreliableStore(inner);
    const driver = new BareDriver({ run: (turn) => this.#run(turn) });
    this.server = testEngine({ store: this.store, driver });
    this.owner = new Watcher(this.server.connect());
    this.watchers = [this.owner];
  }

  async begin(): Promise<void> {
    this.threadId = await this.owner.client.startThread();
    this.owner.begin(emptyThread(this.threadId));
    await this.#startTurn();
  }

  async step({ what, which, pause }: Step): Promise<void> {
    await this.#do(what, which);
    if (pause) await settled();
  }

  /** Waits until nothing happens any more and all subscribers have caught up. */
  async finish(): Promise<void> {
    this.#disk?.open();
    this.store.syncWaits = async () => undefined;
    this.#end({ status: "completed" });
    await settled();
    for (const { client } of this.watchers) client.drained();
    await Promise.all(this.joining);
    await this.owner.client.call("thread/name/set", { threadId: this.threadId, name: "the end" });
    for (const { client } of this.watchers) {
      await client.waitFor("thread/name/updated", (event) => event.data.name === "the end");
    }
  }

  async #run(turn: TurnContext): Promise<TurnOutcome> {
    this.#turn = turn;
    this.#items = [];
    return new Promise((resolve) => {
      this.#end = resolve;
      turn.signal.addEventListener("abort", () => resolve({ status: "interrupted" }));
    });
  }

  async #startTurn(): Promise<void> {
    this.#turn = undefined;
    this.joining.push(
      this.owner.client.startTurn(this.threadId, `prompt ${this.#count}`).catch(() => undefined),
    );
    await settled();
  }

  async #do(what: Step["what"], which: number): Promise<void> {
    const turn = this.#turn;
    const itemId = this.#items[which % Math.max(1, this.#items.length)];
    this.#count += 1;
    switch (what) {
      case "start item": {
        const id = `item-${this.#count}`;
        if (turn !== undefined) this.#items.push(id);
        return turn?.emit({ type: "item/started", item: { type: "agentMessage", id, text: "" } });
      }
      case "stream":
        if (itemId !== undefined)
          turn?.emit({ type: "item/agentMessage/delta", itemId, delta: `${this.#count} 😀 ` });
        return;
      case "complete item":
        if (itemId === undefined) return;
        this.#items = this.#items.filter((id) => id !== itemId);
        return turn?.emit({
          type: "item/completed",
          item: { type: "agentMessage", id: itemId, text: `whole ${this.#count}` },
        });
      case "use tokens":
        return turn?.emit({ type: "usage", last: { inputTokens: which, outputTokens: 1 } });
      case "ask":
        void turn?.approve({
          kind: "command",
          itemId: `c-${this.#count}`,
          command: `run ${this.#count}`,
          cwd: "/code",
        });
        return;
      case "answer":
        return this.#answer(which);
      case "end turn":
        if (turn === undefined) return;
        this.#end({ status: which > 3 ? "interrupted" : "completed" });
        await settled();
        await this.#startTurn();
        return this.#do("start item", 0);
      case "name":
        this.joining.push(
          this.owner.client.call("thread/name/set", { threadId: this.threadId, name: `name ${this.#count}` }),
        );
        return;
      case "wait 60 ms":
        return this.server.clock.advance(60);
      case "snapshot":
        return this.#join({}, attachedState);
      case "resume": {
        const watcher = this.#watch();
        watcher.begin(emptyThread(this.threadId));
        this.joining.push(watcher.client.call("thread/resume", { threadId: this.threadId }));
        return;
      }
      case "leave and come back":
        return this.#comeBack(which);
      case "stall": {
        const chosen = this.watchers[1 + (which % Math.max(1, this.watchers.length - 1))];
        if (chosen !== undefined) chosen.client.full = true;
        return;
      }
      case "recover":
        for (const { client } of this.watchers) client.drained();
        return;
      case "block disk":
        this.#disk ??= new Gate();
        this.store.syncWaits = () => this.#disk?.wait() ?? Promise.resolve();
        return;
      case "free disk":
        this.#disk?.open();
        this.#disk = undefined;
    }
  }

  async #answer(which: number): Promise<void> {
    const open = this.owner.fold()?.approvals[0];
    if (open === undefined) return;
    const decision = { outcome: which % 2 === 0 ? "allow" : "deny" } as const;
    const params = { threadId: this.threadId, approvalId: open.id, decision };
    this.joining.push(this.owner.client.call("approval/respond", params).catch(() => undefined));
  }

  #watch(earlier?: ThreadState): Watcher {
    const watcher = new Watcher(this.server.connect(), earlier);
    this.watchers.push(watcher);
    return watcher;
  }

  #join(
    cursor: object,
    state: (answer: Result<"thread/attach">) => ThreadState,
    earlier?: ThreadState,
  ): void {
    const watcher = this.#watch(earlier);
    const attached = watcher.client.call("thread/attach", { threadId: this.threadId, ...cursor });
    this.joining.push(attached.then((answer) => watcher.begin(state(answer))));
  }

  #comeBack(which: number): void {
    const leaving = this.watchers[1 + (which % Math.max(1, this.watchers.length - 1))];
    const state = leaving?.fold();
    if (leaving === undefined || state === undefined) return;
    leaving.client.session.close();
    this.watchers.splice(this.watchers.indexOf(leaving), 1);
    this.#join({ afterSeq: state.seq }, () => state, state);
  }
}

/**
 * Returns the parts of the state that two subscribers of the same thread must agree on, wherever they
 * started.
 */
function comparable(state: ThreadState | undefined) {
  if (state === undefined) return undefined;
  const { thread, settings, activeTurnId, approvals, questions, queue, usage, seq } = state;
  const turns = state.turns.map(({ itemsView: _view, ...turn }) => turn);
  return { thread, settings, activeTurnId, approvals, questions, queue, usage, seq, turns };
}

/** Plays the steps and compares what all subscribers saw with the log. */
async function play(what: readonly Step[], inner: Store): Promise<void> {
  const world = new World(inner);
  await world.begin();
  for (const next of [...OPENING, ...what]) await world.step(next);
  await world.finish();
  let logged = emptyThread(world.threadId);
  for await (const event of world.store.read(world.threadId)) logged = reduceThread(logged, event);
  const expected = comparable(logged);
  for (const watcher of world.watchers) expect(comparable(watcher.fold())).toEqual(expected);
  await world.server.close();
}

describe("clients that attach, stall, leave or return at any moment end up with the same thread as one that never left", () => {
  test("with a store in memory, which is synchronous", async () => {
    const property = fc.asyncProperty(steps, (what) => play(what, new MemoryStore()));
    await fc.assert(property, { numRuns: 60 });
  });

  test("with a store on disk, where reading takes time", async () => {
    const folder = await temporaryFolder();
    let count = 0;
    const property = fc.asyncProperty(steps, (what) => {
      count += 1;
      return play(what, new JsonlStore({ root: folder.join(String(count)), durability: "relaxed" }));
    });
    await fc.assert(property, { numRuns: 15 });
  });
});
