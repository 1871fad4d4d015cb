import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import {
  currentRound,
  errorMessage,
  nextRole,
  type Role,
  reduceTask,
  type TaskState,
  type TurnReference,
  type Verdict,
} from "@flint/protocol";
import type { AgentEvent, FlintClient } from "@flint/sdk";
import { accountsOf, limitedUntil, type ReportedAccount } from "../accounts.ts";
import { asking, budgetLeft, type DecisionContext, type Events, event } from "../decide/decision.ts";
import { blockingFindings } from "../decide/findings.ts";
import { finish } from "../decide/finish.ts";
import { aroundLimit } from "../decide/interruptions.ts";
import type {
  CheckOutcome,
  ExecuteOutcome,
  MergeOutcome,
  PrepareOutcome,
  ReviewOutcome,
} from "../decide/outcomes.ts";
import {
  afterChecks,
  afterMerge,
  afterPrepare,
  afterTurn,
  afterVerdict,
  startRound,
  turnKey,
} from "../decide/run.ts";
import type { Lease, TaskStore } from "../store/task-store.ts";
import { readReport, readVerdict } from "./answers.ts";
import { EarlierTurns, unfinishedRound } from "./earlier-turns.ts";
import { executorPrompt, REPORT_SCHEMA, reviewerPrompt, VERDICT_SCHEMA } from "./prompts.ts";
import { runRoleTurn } from "./role-turn.ts";
import type { RunObserver } from "./run-observer.ts";
import { addRunUsage } from "./run-usage.ts";
import { TaskChecks, threadTask } from "./task-checks.ts";
import type { TaskWorkspaces } from "./task-workspaces.ts";
import { TurnLog } from "./turn-log.ts";
import type { RoleTurnOutcome } from "./turn-outcome.ts";

/** The dependencies of a run. */
export interface TaskRunOptions {
  readonly store: TaskStore;
  readonly workspaces: TaskWorkspaces;
  /** A client of the engine that runs the turns. */
  readonly client: FlintClient;
  readonly context: () => DecisionContext;
  /** Time for which an agent's question may wait for a client before the task itself asks. */
  readonly askMs: number;
  /** The model of roles that name none; the configured one if absent. */
  readonly defaultModel?: string | undefined;
  /** Follows the turns of the run, for other programs. */
  readonly observer?: RunObserver | undefined;
  /** The accounts at a limit that threads have met. */
  readonly reported?: (() => Promise<readonly ReportedAccount[]>) | undefined;
  /** The reason there is no space on the disk for a turn; undefined if there is. */
  readonly diskProblem?: (() => Promise<string | undefined>) | undefined;
}

/** Returns the parts of the state that determine the folder of a task and its fate. */
function decisiveParts({ rounds, ...state }: TaskState) {
  const { attempt, step, base, from, folder, executorThread, answer, result, mergeAs } = state;
  // How many messages a round has had is up to those who send them.
  const own = rounds.map(({ instructionsRead: _read, ...round }) => round);
  return { attempt, step, base, from, folder, executorThread, answer, rounds: own, result, mergeAs };
}

const STALE_TRIES = 5;
/** From this round on the executor's context is compacted first: it has been rejected twice. */
const COMPACT_FROM_ROUND = 3;

/** Carries one task on under a lease, step after step, until it waits for something or has ended. */
export class TaskRun {
  readonly #options: TaskRunOptions;
  readonly #lease: Lease;
  readonly #signal: AbortSignal;
  readonly #checks: TaskChecks;
  readonly #earlier: EarlierTurns;
  #state: TaskState;
  #written: Promise<unknown> = Promise.resolve();
  readonly #logs = { executor: new TurnLog("executor"), reviewer: new TurnLog("reviewer") };

  constructor(options: TaskRunOptions, lease: Lease, state: TaskState, signal: AbortSignal) {
    this.#options = options;
    this.#lease = lease;
    this.#signal = signal;
    this.#checks = new TaskChecks(options.client, options.workspaces, signal);
    this.#earlier = new EarlierTurns(options.client, options.workspaces, lease.worker);
    this.#state = state;
  }

  /** Resolves when the run is over. Its results are ignored once its lease is void or the signal has fired. */
  async work(): Promise<void> {
    while (this.#state.run?.leaseId === this.#lease.id && !this.#signal.aborted) {
      const problem = await this.#checks.setUpAgain(this.#state);
      const events =
        problem === undefined
          ? await this.#step(this.#state)
          : [asking(this.#options.context(), "place", problem)];
      if (this.#signal.aborted || !(await this.#commit(events))) return;
    }
  }

  /** Writes one after the other: what a turn reports must not come between a decision and its state. */
  #commit(events: Events): Promise<boolean> {
    const written = this.#written.then(() => this.#write(events));
    this.#written = written.catch(() => undefined);
    return written;
  }

  async #write(events: Events): Promise<boolean> {
    const { store } = this.#options;
    const write = { task: this.#state.id, lease: this.#lease, events };
    let result = await store.commit({ ...write, expect: this.#state.version });
    // Somebody steered the task meanwhile; that decides nothing.
    for (let again = 0; again < STALE_TRIES && result.status === "stale"; again += 1) {
      if (result.state.run?.leaseId !== this.#lease.id) return false;
      this.#accept(result.state, []);
      result = await store.commit({ ...write, expect: result.state.version });
    }
    if (result.status !== "ok") return false;
    if (result.state.run?.leaseId === this.#lease.id) this.#accept(result.state, events);
    else this.#state = result.state;
    for (const each of events)
      if (each.type === "task/fallback") this.#options.observer?.onFallback(this.#state, each.data);
    return true;
  }

  /**
   * Takes a state over to which only these events of the run were added, and messages of people. No one else may say where a
   * leased task works and on what: of a state in a database, only the specification is signed.
   */
  #accept(state: TaskState, events: Events): void {
    const expected = events.reduce((before, each) => {
      return reduceTask(before.id, before, { ...each, version: before.version + 1, at: before.updatedAt });
    }, this.#state);
    if (!isDeepStrictEqual(decisiveParts(state), decisiveParts(expected)))
      throw new Error("It was changed from elsewhere while it was leased, so the run was ended.");
    this.#state = state;
  }

  /** The log of the task is kept whether or not anybody listens to its turns. */
  #onEvent(role: "executor" | "reviewer", received: AgentEvent): void {
    this.#options.observer?.onEvent(this.#state, role, received);
    const entry = this.#logs[role].of(received);
    if (entry !== undefined) void this.#commit([event("task/logged", entry)]);
  }

  #warn(role: "executor" | "reviewer", message: string): void {
    void this.#commit([event("task/logged", { role, level: "warning", message })]);
  }

  async #step(state: TaskState): Promise<Events> {
    const context = this.#options.context();
    switch (state.step) {
      case "prepare":
        return (await this.#withoutSpace()) ?? afterPrepare(state, await this.#prepare(state), context);
      case "execute":
        return this.#isStarted(state)
          ? afterTurn(state, await this.#execute(state), this.#options.context())
          : ((await this.#withoutSpace()) ??
              (await this.#afterEarlierTurn(state)) ??
              (await this.#aroundLimit(state)) ??
              startRound(state, context));
      case "check":
        return afterChecks(state, await this.#check(state), this.#options.context());
      case "review":
        return state.spec.reviewers.length === 0
          ? finish(state)
          : ((await this.#aroundLimit(state)) ??
              afterVerdict(state, await this.#review(state), this.#options.context()));
      case "merge":
        return afterMerge(state, await this.#merge(state), this.#options.context());
    }
  }

  /** On a full disk an agent would lose what it makes, so the task asks before that. */
  async #withoutSpace(): Promise<Events | undefined> {
    const problem = await this.#options.diskProblem?.();
    return problem === undefined ? undefined : [asking(this.#options.context(), "place", problem)];
  }

  /** An agent is not tried for nothing if another task has met the limit of its account, and there is another agent. */
  async #aroundLimit(state: TaskState): Promise<Events | undefined> {
    if (nextRole(state).agents.length < 2) return undefined;
    const { store, context, reported } = this.#options;
    const outside = await reported?.();
    const [accounts, { now }] = [accountsOf(await store.list(), outside), context()];
    return aroundLimit(state, (role) => limitedUntil(role, accounts) > now);
  }

  /**
   * Reports whether the turn was begun under this lease by this agent; otherwise it is begun again, under a
   * key of its own.
   */
  #isStarted(state: TaskState): boolean {
    const round = currentRound(state);
    return round !== undefined && round.tree === undefined && round.clientId === turnKey(state, round.round);
  }

  /** The folder of the attempt, after its set-up command. */
  async #prepare(state: TaskState): Promise<PrepareOutcome> {
    const prepared = await this.#options.workspaces.prepare(state);
    if (prepared.kind !== "prepared") return prepared;
    const message = await this.#checks.setUp(state, prepared.folder);
    return message === undefined ? prepared : { kind: "unable", mayPass: false, message };
  }

  /** A turn that an earlier run began is not done again if it has ended: its outcome counts now. */
  async #afterEarlierTurn(state: TaskState): Promise<Events | undefined> {
    const round = unfinishedRound(state);
    if (round === undefined) return undefined;
    const answered = await this.#earlier.answered(state, round);
    const outcome =
      answered === undefined
        ? await this.#earlier.committed(state, round)
        : await this.#executed(answered, round.round);
    if (outcome === undefined) return undefined;
    const message = `An earlier run had ended the turn of round ${round.round}; it is not repeated.`;
    return [
      event("task/logged", { role: "executor", message }),
      ...afterTurn(state, outcome, this.#options.context()),
    ];
  }

  async #execute(state: TaskState): Promise<ExecuteOutcome> {
    const { client, askMs } = this.#options;
    const round = currentRound(state);
    const role = this.#named(state.spec.executors[state.executor]);
    if (round === undefined || role === undefined || state.folder === undefined)
      return { kind: "failed", message: "The attempt has no folder.", usage: { seconds: 0 } };
    // Expected: somebody has deleted the folder. It is made again, from the last round; work is done nowhere else.
    if (!existsSync(state.folder)) {
      const prepared = await this.#prepare(state);
      if (prepared.kind !== "prepared")
        return { kind: "needsUser", message: prepared.message, usage: { seconds: 0 } };
    }
    await this.#answerEarlier(state);
    const withFindings = blockingFindings(state.findings).length > 0;
    // A thread is where it was started; elsewhere a new one continues from what was committed.
    const { executorThread: thread } = state;
    const known =
      thread === undefined || this.#earlier.isHere(thread) ? state : { ...state, executorThread: undefined };
    const outcome = await runRoleTurn(client, {
      ...{ role, askMs, cwd: state.folder, signal: this.#signal, clientId: round.clientId },
      threadId: known.executorThread?.threadId,
      threadName: `Task ${state.number}: ${state.spec.title}`.slice(0, 200),
      prompt: executorPrompt(known),
      task: threadTask(state),
      sandbox: "workspaceWrite",
      git: state.spec.git !== "off",
      network: state.spec.network,
      accepts: state.spec.allow === "tools",
      ...(withFindings ? { outputSchema: REPORT_SCHEMA } : {}),
      compact: known.executorThread !== undefined && round.round >= COMPACT_FROM_ROUND,
      budget: budgetLeft(state),
      enforcement: state.spec.budget.enforcement,
      onThread: (...opened) => this.#options.observer?.onThread(this.#state, "executor", ...opened),
      onTurn: (turn) => this.#record("executor", turn),
      onEvent: (received) => this.#onEvent("executor", received),
      onWarning: (message) => this.#warn("executor", message),
    });
    return this.#executed(outcome, round.round);
  }

  /** The outcome of a turn, with its work committed. */
  async #executed(outcome: RoleTurnOutcome, round: number): Promise<ExecuteOutcome> {
    if (outcome.kind !== "answered") return outcome;
    const work = await this.#options.workspaces
      .commit(this.#state, round, outcome.commits)
      // Expected: the disk is full, or the remote cannot be reached. The work is in the folder, and the next turn has it.
      .catch((thrown: unknown) => this.#unstored(thrown));
    if (typeof work === "string")
      return { kind: "unstored", message: work, usage: outcome.usage, turn: outcome.turn };
    const { summary, contested } = readReport(outcome.text);
    const turn = { ...outcome.turn, worker: this.#lease.worker };
    return { kind: "completed", turn, usage: outcome.usage, ...work, summary, contested };
  }

  /**
   * Describes the reason the work of a turn could not be committed, with advice if there is no space for it.
   */
  async #unstored(thrown: unknown): Promise<string> {
    const kept = "The work is still in the folder of the task: answer when it can be committed.";
    return [errorMessage(thrown), await this.#options.diskProblem?.(), kept].filter(Boolean).join(" ");
  }

  #named(role: Role | undefined): Role | undefined {
    const { defaultModel: model } = this.#options;
    return model === undefined || role === undefined ? role : { model, ...role };
  }

  /** The thread of a turn is known from its start, so that it can be watched and is found again after a crash. */
  async #record(role: "executor" | "reviewer", turn: TurnReference): Promise<void> {
    const place = { ...turn, worker: this.#lease.worker };
    await this.#commit([event("round/turn", { role, turn: place })]);
  }

  /** Gives the agent the answer to what it asked in an earlier run: the same command is allowed once. */
  async #answerEarlier({ answer }: TaskState): Promise<void> {
    const request = answer?.ask.request;
    const threadId = answer?.ask.threadId;
    if (answer === undefined || request === undefined || threadId === undefined) return;
    const approvalId = typeof request.id === "string" ? request.id : "";
    const outcome = answer.answer.response?.outcome === "deny" ? "deny" : "allow";
    // Expected: it was answered elsewhere, or is too old; then the agent asks again.
    await this.#options.client
      .call("approval/respond", { threadId, approvalId, decision: { outcome, scope: "once" } })
      .catch(() => undefined);
  }

  async #check(state: TaskState): Promise<CheckOutcome> {
    if (state.folder === undefined) return { kind: "unable", message: "The attempt has no folder." };
    return this.#checks.run(state, state.folder);
  }

  async #review(state: TaskState): Promise<ReviewOutcome> {
    const { client, workspaces, askMs } = this.#options;
    const role = this.#named(state.spec.reviewers[state.reviewer]);
    const round = currentRound(state);
    if (role === undefined || round?.commit === undefined || round.commit === null)
      return { kind: "failed", message: "There is no commit to review.", usage: { seconds: 0 } };
    const review = `${round.clientId}.review.${round.reviews.length}.${state.reviewer}.`;
    const key = `${review}${state.fence}`;
    const cwd = await workspaces.reviewFolder(state, round.commit);
    const ask = (text: string, clientId: string, earlier?: RoleTurnOutcome) =>
      runRoleTurn(client, {
        ...{
          role,
          cwd,
          askMs,
          clientId,
          prompt: text,
          threadId: earlier?.turn?.threadId,
          signal: this.#signal,
        },
        threadName: `Review of task ${state.number}: ${state.spec.title}`.slice(0, 200),
        task: threadTask(state),
        sandbox: "readOnly",
        git: false,
        accepts: state.spec.allow === "tools",
        outputSchema: VERDICT_SCHEMA,
        compact: false,
        budget: budgetLeft(state, earlier?.usage),
        enforcement: state.spec.budget.enforcement,
        onThread: (...opened) => this.#options.observer?.onThread(this.#state, "reviewer", ...opened),
        onTurn: (turn) => this.#record("reviewer", turn),
        onEvent: (received) => this.#onEvent("reviewer", received),
        onWarning: (message) => this.#warn("reviewer", message),
      });
    const first =
      (await this.#earlier.judged(round, review)) ??
      (await ask(reviewerPrompt(state, await workspaces.diff(state)), key));
    if (first.kind !== "answered") return first;
    const verdict = readVerdict(first.text);
    if (verdict !== undefined) return this.#judged(verdict, first);
    // One more try for an agent that does not keep to the form.
    const again = await ask(
      "Answer with the verdict alone, as JSON in the required form.",
      `${key}.repair`,
      first,
    );
    const repaired = { ...again, usage: addRunUsage(first.usage, again.usage) };
    if (repaired.kind !== "answered") return repaired;
    const second = readVerdict(repaired.text) ?? unreadable(repaired.text);
    return this.#judged(second, repaired);
  }

  async #judged(verdict: Verdict, { usage, turn }: RoleTurnOutcome): Promise<ReviewOutcome> {
    const onChangedLines = await this.#options.workspaces.onChangedLines(this.#state, verdict.findings);
    return { kind: "judged", verdict, onChangedLines, usage, ...(turn === undefined ? {} : { turn }) };
  }

  async #merge(state: TaskState): Promise<MergeOutcome> {
    let problem: MergeOutcome | undefined;
    const outcome = await this.#options.workspaces.merge(state, async (folder) => {
      problem = await this.#checks.problemOfMerged(state, folder);
      return problem === undefined;
    });
    return problem ?? outcome;
  }
}

function unreadable(text: string): Verdict {
  return {
    verdict: "cannotJudge",
    summary: `The verdict could not be read: ${text.slice(0, 500)}`,
    findings: [],
    earlier: [],
  };
}
