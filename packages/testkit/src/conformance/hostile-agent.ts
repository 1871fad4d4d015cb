import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestClock } from "../clock.ts";
import {
  type FakeStep,
  HOSTILE_AGENTS,
  type HostileAgent,
  writeFakeAgent,
} from "../fake-agents/fake-agent.ts";
import { leavesNoProcess } from "../processes.ts";
import { temporaryFolder } from "../temp.ts";
import { COMPLETED, open, type TurnEnd, turnOf, within } from "./driver-trial.ts";
import { type Absent, type DriverUnderTest, unsupported } from "./driver-under-test.ts";
import { lifecycleFaults, type RecordingTurn } from "./recording-turn.ts";

/** Start options of a driver that is to work with a hostile agent. */
export interface HostileStart {
  /** Plays the bad agent; the driver may add arguments. */
  readonly command: readonly string[];
  /** Its folder, empty but for the script. */
  readonly folder: string;
  /** For the time limits of the driver: the suite moves it, so that no test waits in real time. */
  readonly clock: TestClock;
}

/** A driver on a bad agent. */
export type HostileTrial = Pick<DriverUnderTest, "driver" | "settings" | "sandbox" | "stopsWithinMs">;

/** The stages up to which an agent behaves before it no longer does, as messages of its own wire. */
export interface HostileStages {
  /** Everything up to the middle of the first turn. */
  readonly midTurn: readonly FakeStep[] | Absent;
  readonly asksLate: LateAsk | Absent;
}

/** An agent that sends a request outside a turn. */
export interface LateAsk {
  /** A whole turn, then something that it asks to be allowed, then a wait for the refusal. */
  readonly refused: readonly FakeStep[];
  /** Another whole turn. */
  readonly next: readonly FakeStep[];
}

/** Makes a driver that meets an agent. */
export type MakeHostile = (start: HostileStart) => Promise<HostileTrial>;

const NOT_SAID = unsupported("describeHostileAgent was given no steps for it");
const NO_STAGES: HostileStages = { midTurn: NOT_SAID, asksLate: NOT_SAID };

/** Longer than any time limit for a start or for a stop. */
const LONG_MS = 10 * 60_000;
const ENDS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 5_000;
const QUIET_WITHIN_MS = 3_000;
const POLL_MS = 20;
/** An error message must not contain all that an agent wrote. */
const LONGEST_MESSAGE = 16 * 1024;

/** The expected text of the failure, where the agent gave the reason. */
const REPORTS: Partial<Record<HostileAgent, RegExp>> = { "exits at once with an error": /no such account/ };

/** One suite for every driver with a program: whatever the program does, each turn ends, once, and nothing is left. */
export function describeHostileAgent(
  name: string,
  make: MakeHostile,
  stages: HostileStages = NO_STAGES,
): void {
  const agents = Object.keys(HOSTILE_AGENTS).filter(isHostile);
  describe(`${name}, with an agent that`, () => {
    for (const agent of agents)
      test(`${agent} when it is started [P25]`, () => checkHostileStart(agent, make));
    for (const agent of agents) {
      given(`${agent} in the middle of a turn [P25]`, stages.midTurn, (steps) =>
        checkHostileTurn(agent, make, steps),
      );
    }
    given("asks to be allowed something after its turn [P25]", stages.asksLate, (ask) =>
      checkHostileRequest(make, ask),
    );
  });
}

function given<Stage extends object>(
  title: string,
  stage: Stage | Absent,
  body: (stage: Stage) => Promise<void>,
): void {
  // A part that cannot be arranged is left out; the caller says why.
  if (!("absent" in stage)) test(title, () => body(stage));
}

/** The turn fails without being stopped: by what the agent does, or by the driver's own time limit. */
export async function checkHostileStart(
  agent: HostileAgent,
  make: MakeHostile,
  withinMs: number = ENDS_WITHIN_MS,
): Promise<void> {
  const meeting = await HostileRun.begin(make, [], HOSTILE_AGENTS[agent]);
  await meeting.untilQuiet();
  // The end of an agent has to be noticed whatever the time is.
  if (!endsItself(agent)) await meeting.moveClock();
  expectFailure(agent, await meeting.end(`a driver whose agent ${agent} did not give up`, withinMs));
  await meeting.expectSilence();
}

/** The turn fails, or it can be stopped. */
export async function checkHostileTurn(
  agent: HostileAgent,
  make: MakeHostile,
  steps: readonly FakeStep[],
): Promise<void> {
  const meeting = await HostileRun.begin(make, steps, HOSTILE_AGENTS[agent]);
  await meeting.untilQuiet();
  const result = await (endsItself(agent) ? meeting.end("the turn did not end") : meeting.stop());
  const wasStopped = "outcome" in result && result.outcome.status === "interrupted";
  if (endsItself(agent) || !wasStopped) expectFailure(agent, result);
  await meeting.expectSilence();
}

function expectFailure(agent: HostileAgent, result: TurnEnd): void {
  const message = messageOf(result);
  expect(message).toMatch(REPORTS[agent] ?? /\S/);
  expect(message.length, "the length of the message").toBeLessThan(LONGEST_MESSAGE);
}

function endsItself(agent: HostileAgent): boolean {
  return HOSTILE_AGENTS[agent].some((step) => "exit" in step || "kill" in step);
}

/** No approval is requested, the agent is refused, and the next turn completes. */
export async function checkHostileRequest(
  make: MakeHostile,
  { refused, next }: LateAsk,
  withinMs: number = ENDS_WITHIN_MS,
): Promise<void> {
  const folder = await temporaryFolder();
  const mark = folder.join("refused");
  const steps = [...refused, { spawn: ["touch", mark] }, ...next];
  const meeting = await HostileRun.begin(make, steps, [{ hang: true }]);
  const { turn, trial } = meeting;
  expect(await meeting.end("the first turn did not end")).toEqual(COMPLETED);
  await expect
    .poll(() => existsSync(mark), { message: "the late ask was not refused", timeout: withinMs })
    .toBe(true);
  const following = turnOf(underTest(trial), "go on");
  const result = await within(withinMs, meeting.run(following), "the second turn did not end");
  expect(result).toEqual(COMPLETED);
  expect([...turn.actions, ...turn.lateActions, ...following.actions], "what was asked for").toEqual([]);
  await meeting.expectSilence();
}

/** A driver, a bad agent and a turn that runs between them. */
class HostileRun {
  readonly trial: HostileTrial;
  readonly turn: RecordingTurn;
  readonly ended: Promise<TurnEnd>;
  readonly #clock: TestClock;
  /** The files that the agent makes: once it begins to misbehave, and once it has done its worst. */
  readonly #marks: Marks;
  readonly #session: ReturnType<typeof open>;
  #hasEnded = false;

  private constructor(trial: HostileTrial, clock: TestClock, marks: Marks) {
    this.trial = trial;
    this.#clock = clock;
    this.#marks = marks;
    this.turn = turnOf(underTest(trial), "hello");
    this.#session = open(underTest(trial));
    this.ended = this.run(this.turn).finally(() => {
      this.#hasEnded = true;
    });
    onTestFinished(() => this.#close());
  }

  /** The agent plays the first steps properly. */
  static async begin(
    make: MakeHostile,
    proper: readonly FakeStep[],
    hostile: readonly FakeStep[],
  ): Promise<HostileRun> {
    leavesNoProcess();
    const folder = await temporaryFolder();
    const marks = { begun: folder.join("begun"), quiet: folder.join("quiet") };
    const command = await writeFakeAgent(folder.path, [...proper, ...marked(hostile, marks)]);
    const clock = new TestClock();
    const trial = await make({ command, clock, folder: folder.path });
    return new HostileRun(trial, clock, marks);
  }

  /** Runs a turn; a session that cannot be opened fails it, as it does in the core. */
  async run(turn: RecordingTurn): Promise<TurnEnd> {
    // Expected: whatever drivers reject with.
    try {
      return { outcome: await (await this.#session).run(turn) };
    } catch (rejection) {
      return { rejection };
    } finally {
      turn.end();
    }
  }

  /** The outcome of the turn if it was not stopped. */
  end(failure: string, withinMs: number = ENDS_WITHIN_MS): Promise<TurnEnd> {
    return within(withinMs, this.ended, failure);
  }

  /**
   * Resolves when the turn has ended or the agent has done its worst, or gets no occasion to. How long the agent takes to
   * start does not count: a busy machine takes its time.
   */
  async untilQuiet(): Promise<void> {
    await this.#untilMarked(this.#marks.begun, ENDS_WITHIN_MS);
    await this.#untilMarked(this.#marks.quiet, QUIET_WITHIN_MS);
  }

  async #untilMarked(mark: string, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!this.#hasEnded && !existsSync(mark) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  moveClock(): Promise<void> {
    return this.#clock.advance(LONG_MS);
  }

  /** Stops the turn, if it still runs. */
  async stop(): Promise<TurnEnd> {
    this.turn.stop();
    const limit = this.trial.stopsWithinMs ?? STOPS_WITHIN_MS;
    const stopping = within(limit, this.ended, "the turn did not stop");
    await this.moveClock();
    return stopping;
  }

  /** After the end no event is emitted, and the emitted ones are consistent. */
  async expectSilence(): Promise<void> {
    await this.#close();
    expect(this.turn.late, "what was reported after the end").toEqual([]);
    expect(lifecycleFaults(this.turn.events, false)).toEqual([]);
  }

  async #close(): Promise<void> {
    // Expected: a session that could not be opened needs no end.
    const session = await this.#session.catch(() => undefined);
    const closing = session?.close();
    await this.moveClock();
    await closing;
  }
}

/** Paths of files that record how far an agent is. */
interface Marks {
  readonly begun: string;
  readonly quiet: string;
}

/** The steps with their marks: one before the first step, one when only waiting is left or something was answered. */
function marked(steps: readonly FakeStep[], { begun, quiet }: Marks): FakeStep[] {
  const mark: FakeStep = { spawn: ["touch", quiet] };
  const played = steps.flatMap((step): FakeStep[] => {
    if ("hang" in step) return [mark, step];
    return "forever" in step ? [{ forever: [...step.forever, mark] }] : [step];
  });
  return [{ spawn: ["touch", begun] }, ...played];
}

function underTest(trial: HostileTrial): DriverUnderTest {
  const prompts = { text: "", tool: "", stream: "", longTool: "", failure: "" };
  return { ...trial, prompts };
}

function messageOf(result: TurnEnd): string {
  if ("rejection" in result) {
    expect(result.rejection).toBeInstanceOf(Error);
    return result.rejection instanceof Error ? result.rejection.message : "";
  }
  const { outcome } = result;
  expect(outcome.status).toBe("failed");
  return outcome.status === "failed" ? outcome.error.message : "";
}

function isHostile(name: string): name is HostileAgent {
  return Object.hasOwn(HOSTILE_AGENTS, name);
}
