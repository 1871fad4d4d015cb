import { currentRound, isEnded, type TaskSpec, type TaskState, type Verdict } from "@flint/protocol";
import { accountsOf, limitedUntil, mayOfferMore, type ReportedAccount } from "../accounts.ts";
import type { DecisionContext, Events } from "../decide/decision.ts";
import { finish } from "../decide/finish.ts";
import { aroundLimit } from "../decide/interruptions.ts";
import type { ExecuteOutcome, Interruption, ReviewOutcome } from "../decide/outcomes.ts";
import * as run from "../decide/run.ts";
import * as userActions from "../decide/user-actions.ts";
import { plan, waitForReport } from "../schedule.ts";
import { resumeAll, suspendAll } from "../service/bulk-actions.ts";
import { TaskScheduler } from "../service/scheduler.ts";
import { MemoryStore } from "../store/memory-store.ts";
import type { Lease } from "../store/task-store.ts";
import { Random } from "./random.ts";
import { testSpec } from "./spec.ts";

/** Duration of the leases in a history. */
export const LEASE_MS = 30_000;
const TURN_SECONDS = 600;
const CONCURRENCY = 3;

/** A worker's view of the task it runs: what it last read, and since when it has been silent. */
interface Hand {
  readonly lease: Lease;
  state: TaskState;
  /** It does nothing until then, as if its machine were stopped. */
  stoppedUntil: number;
}

/**
 * One history of a few tasks: workers that crash, stop and come back, agents that fail, meet limits and ask, people
 * who answer, cancel and retry, all by chance from a seed and in virtual time. No I/O.
 */
export class Simulation {
  readonly #random: Random;
  #now = 1_800_000_000_000;
  #ids = 0;
  readonly store: MemoryStore;
  /** The real one: it receives each change before the one who made it continues, and looks at once. */
  readonly #scheduler: TaskScheduler;
  /** True if the workers have been woken since they last took what was offered; nothing else makes them look. */
  #isAwake = true;
  readonly #hands: Hand[] = [];
  /** Writes of workers whose lease was over; none of them was accepted. */
  fencedWrites = 0;
  /** Events that the scheduler could not handle. */
  readonly problems: string[] = [];
  #limits: readonly ReportedAccount[] = [];
  /** True if no faults happen: a calm world has to bring every task to its end. */
  #calm = false;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.store = new MemoryStore({ now: () => this.#now, id: () => `id-${++this.#ids}` });
    this.#scheduler = new TaskScheduler({
      ...{ store: this.store, leaseMs: LEASE_MS, context: () => this.#context() },
      reported: async () => this.#reported,
      onRecovery: () => {
        this.#isAwake = true;
      },
      onProblem: (message) => this.problems.push(message),
    });
    this.store.subscribe((change) => {
      this.#isAwake ||= mayOfferMore(change);
    });
  }

  /** Plays the history: some turbulent steps, then calm ones until every task has ended. */
  async play(tasks: number, steps: number): Promise<void> {
    await this.#play(tasks, steps);
    await this.#scheduler.stop();
  }

  async #play(tasks: number, steps: number): Promise<void> {
    for (let index = 0; index < tasks; index += 1) await this.#add();
    for (let step = 0; step < steps; step += 1) await this.#step();
    this.#calm = true;
    for (let step = 0; step < 2000; step += 1) {
      if ((await this.store.list()).every(isEnded)) return;
      await this.#step();
    }
  }

  async #add(): Promise<void> {
    const random = this.#random;
    const spec = testSpec({
      executors: random.chance(0.3) ? [{ model: "claude" }, { model: "codex" }] : [{ model: "claude" }],
      ...this.#reviewers(),
      checks: random.chance(0.5) ? [{ command: "npm test" }] : [],
      rounds: 1 + random.below(3),
      attempts: 1 + random.below(2),
      budget: { seconds: TURN_SECONDS * (2 + random.below(6)) },
      approvedBy: random.chance(0.5) ? "user" : "reviewer",
      merge: random.pick(["none", "squash"]),
    });
    const [before] = await this.store.list();
    const after = before !== undefined && random.chance(0.2) ? [before.id] : [];
    await this.store.add({ spec: { ...spec, after }, by: "sim", waiting: after.length > 0 });
  }

  #reviewers(): Pick<TaskSpec, "reviewers" | "reviews"> {
    const number = this.#random.pick([0, 1, 1, 2, 3]);
    const models = ["codex", "claude", "gemini"].slice(0, number);
    const reviews = number < 2 ? {} : { reviews: this.#random.pick(["first", "all", "any"] as const) };
    return { reviewers: models.map((model) => ({ model })), ...reviews };
  }

  async #step(): Promise<void> {
    const random = this.#random;
    this.#now += random.below(10_000);
    // As its timer would.
    if (this.#scheduler.isWaiting) this.#scheduler.wake();
    // Sometimes it is still looking while others write.
    if (random.chance(0.7)) await this.#scheduler.settled();
    const roll = random.next();
    if (roll < 0.3) await this.#lease();
    else if (roll < 0.85) await this.#work();
    else await this.#act();
    if (!this.#calm && random.chance(0.02)) this.#now += random.below(3_600_000);
    if (!this.#calm && random.chance(0.01))
      this.#limits = [
        {
          name: random.pick(["claude", "codex"]),
          limitedAt: this.#now,
          untilMs: this.#now + random.below(7_200_000),
        },
      ];
    if (this.#calm) this.#now += 60_000 * (this.#hands.length === 0 ? 30 : 0);
  }

  #context(): DecisionContext {
    return { now: this.#now, random: this.#random.next(), id: () => `id-${++this.#ids}` };
  }

  /** The limits that threads outside of tasks have met; they are forgotten at their reset. */
  get #reported(): readonly ReportedAccount[] {
    return this.#limits.filter(({ untilMs }) => untilMs > this.#now);
  }

  /** The workers take what is offered, the best first, as long as they have room. */
  async #lease(): Promise<void> {
    if (!this.#isAwake) return;
    this.#isAwake = false;
    const tasks = await this.store.list();
    const accounts = accountsOf(tasks, this.#reported);
    if (waitForReport(tasks, accounts, this.#now)) this.#scheduler.watchRecovery();
    for (const { task } of plan(tasks, accounts, this.#now)) {
      if (this.#hands.length >= CONCURRENCY) return;
      const lease = await this.store.lease(task.id, `w${this.#random.below(3)}`, LEASE_MS);
      const state = await this.store.read(task.id);
      if (lease !== undefined && state !== undefined) this.#hands.push({ lease, state, stoppedUntil: 0 });
    }
  }

  async #work(): Promise<void> {
    const random = this.#random;
    const hand = this.#hands[random.below(this.#hands.length)];
    if (hand === undefined || hand.stoppedUntil > this.#now) return;
    if (!this.#calm && random.chance(0.04)) {
      this.#drop(hand);
      return;
    }
    if (!this.#calm && random.chance(0.04)) {
      hand.stoppedUntil = this.#now + random.below(4 * LEASE_MS);
      return;
    }
    // A worker that comes back late does not look at its lease first: the store has to refuse what it writes.
    if (random.chance(0.7)) await this.store.renew(hand.lease, LEASE_MS);
    const events = await this.#next(hand.state);
    const result = await this.store.commit({
      task: hand.lease.task,
      expect: hand.state.version,
      lease: hand.lease,
      events,
    });
    if (result.status === "fenced" || result.status === "unknown") {
      this.fencedWrites += 1;
      this.#drop(hand);
    } else {
      hand.state = result.state;
      if (result.state.run?.leaseId !== hand.lease.id) this.#drop(hand);
    }
  }

  #drop(hand: Hand): void {
    this.#hands.splice(this.#hands.indexOf(hand), 1);
    // There is room for another.
    this.#isAwake = true;
  }

  async #next(state: TaskState): Promise<Events> {
    const context = this.#context();
    const accounts = accountsOf(await this.store.list(), this.#reported);
    const around = aroundLimit(state, (role) => limitedUntil(role, accounts) > context.now);
    switch (state.step) {
      case "prepare":
        return run.afterPrepare(state, this.#prepared(), context);
      case "execute": {
        const round = currentRound(state);
        const started =
          round !== undefined &&
          round.tree === undefined &&
          round.clientId === run.turnKey(state, round.round);
        return started
          ? run.afterTurn(state, this.#turn(), context)
          : (around ?? run.startRound(state, context));
      }
      case "check": {
        const exitCode = this.#random.chance(this.#calm ? 0.05 : 0.3) ? 1 : 0;
        const result = { name: "npm test", exitCode, timedOut: false, seconds: 1, output: "" };
        return run.afterChecks(state, { kind: "ran", results: [result] }, context);
      }
      case "review":
        return state.spec.reviewers.length === 0
          ? finish(state)
          : (around ?? run.afterVerdict(state, this.#review(state), context));
      case "merge":
        return this.#random.chance(0.2)
          ? run.afterMerge(state, { kind: "conflict", files: ["a.ts"], onto: "0".repeat(40) }, context)
          : run.afterMerge(state, { kind: "merged", ref: "refs/heads/main", commit: this.#hash() }, context);
    }
  }

  #prepared(): Parameters<typeof run.afterPrepare>[1] {
    return !this.#calm && this.#random.chance(0.1)
      ? { kind: "unable", message: "disk full", mayPass: this.#random.chance(0.5) }
      : { kind: "prepared", base: this.#hash(), folder: "/worktree" };
  }

  #turn(): ExecuteOutcome {
    const usage = { seconds: TURN_SECONDS };
    const turn = { threadId: "thread" };
    if (!this.#calm && this.#random.chance(0.3)) return { ...this.#interruption(), usage, turn };
    const changed = this.#random.chance(0.9);
    const contested = this.#random.chance(0.2) ? [{ id: "F1", why: "it is right" }] : [];
    return { kind: "completed", turn, commit: this.#hash(), tree: this.#hash(), changed, contested, usage };
  }

  #interruption(): Interruption {
    const limit = {
      agent: "claude",
      window: "5 hours",
      status: "reached" as const,
      source: "frame" as const,
      reportedAtMs: this.#now,
      resetsAtMs: this.#now + this.#random.below(6 * 3_600_000) - 600_000,
    };
    return this.#random.pick<Interruption>([
      { kind: "limit", limit },
      { kind: "overload", message: "overloaded" },
      { kind: "asks", reason: "approval", message: "Run npm install?", threadId: "thread" },
      { kind: "stopped", message: "The worker stops." },
      { kind: "interrupted", message: "The turn was interrupted in its thread." },
      { kind: "failed", message: "The agent exited with 1" },
      { kind: "needsUser", message: "Not logged in" },
      { kind: "budget", message: "The turn's budget is used up." },
    ]);
  }

  #review(state: TaskState): ReviewOutcome {
    const usage = { seconds: 60 };
    if (!this.#calm && this.#random.chance(0.2)) return { ...this.#interruption(), usage };
    const open = state.findings.filter(
      (finding) => finding.state === "open" || finding.state === "contested",
    );
    const verdict: Verdict = {
      verdict: this.#random.pick(["approve", "reject", "reject", "cannotJudge"]),
      summary: "",
      findings: this.#random.chance(0.5)
        ? [
            {
              id: this.#random.pick(["N1", "F1", "F2"]),
              severity: this.#random.pick(["blocker", "major", "minor"]),
              what: "wrong",
            },
          ]
        : [],
      earlier: open.map(({ id }) => ({ id, state: this.#random.pick(["resolved", "open", "withdrawn"]) })),
    };
    return { kind: "judged", verdict, usage, onChangedLines: new Set(this.#random.chance(0.5) ? [0] : []) };
  }

  /** The user does something sensible to a task that waits for one, or something unexpected to any. */
  async #act(): Promise<void> {
    const random = this.#random;
    if (!this.#calm && random.chance(0.01)) {
      const all = random.chance(0.5) ? suspendAll : resumeAll;
      await all({ store: this.store }, "alice");
      return;
    }
    const tasks = await this.store.list();
    const state = tasks[random.below(tasks.length)];
    if (state === undefined) return;
    const events = this.#personal(state);
    // Somebody else may have been faster: the version decides.
    const expect = state.version - (random.chance(0.05) ? 1 : 0);
    await this.store.commit({ task: state.id, expect, events });
  }

  #personal(state: TaskState): Events {
    const random = this.#random;
    if (state.ask !== undefined) {
      const accept = state.result !== undefined && random.chance(0.3);
      const give = this.#calm ? 0.4 : 0.1;
      const choice = accept ? "accept" : random.chance(give) ? "fail" : "continue";
      return userActions.answer(state, state.ask.id, { choice, message: "go on" }, "alice");
    }
    if (state.phase === "approving")
      return random.chance(this.#calm ? 0.1 : 0.4)
        ? userActions.rejectResult(state, "not yet", "alice")
        : userActions.approve(state, state.result?.tree ?? null, "alice");
    if (this.#calm) return state.phase === "suspended" ? userActions.resume(state, "alice") : [];
    if (isEnded(state)) return this.#afterEnd(state);
    if (random.chance(0.1)) return userActions.cancel(state, "alice");
    if (state.phase === "suspended") return userActions.resume(state, "alice");
    return random.chance(0.1) ? userActions.suspend(state, "alice") : [];
  }

  /** A task that has ended is merged after all if it can be, or done again. */
  #afterEnd(state: TaskState): Events {
    const random = this.#random;
    const { phase, merged, result } = state;
    if (phase === "done" && merged === undefined && result?.commit != null && random.chance(0.5))
      return userActions.merge(state, result.tree, random.pick(["squash", undefined]), "alice");
    if (!random.chance(0.3)) return [];
    const attempts = [...state.earlierAttempts, state].filter(({ rounds }) =>
      rounds.some(({ commit }) => typeof commit === "string"),
    );
    const from = random.chance(0.5) ? attempts[random.below(attempts.length)] : undefined;
    return userActions.retry(state, "alice", { fromAttempt: from?.attempt });
  }

  #hash(): string {
    return Array.from({ length: 40 }, () => this.#random.below(16).toString(16)).join("");
  }
}
