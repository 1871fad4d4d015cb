import type { Driver, DriverEvent, DriverSession, Sandbox, TurnOutcome } from "@flint/core/ports";
import { mintId, type Turn } from "@flint/protocol";
import { expect, onTestFinished } from "vitest";
import { settled } from "../clock.ts";
import { leavesNoProcess } from "../processes.ts";
import type { CleanUp, DriverUnderTest } from "./driver-under-test.ts";
import { RecordingTurn, type RecordingTurnOptions } from "./recording-turn.ts";

/** Makes a driver for one or several checks, and registers what has to be cleaned up after them. */
export type MakeDriver = (atEnd: (cleanUp: CleanUp) => void) => Promise<DriverUnderTest>;

/** Gives a check its driver. */
export type Arrange = () => Promise<DriverUnderTest>;

/** The outcome of a turn. */
export type TurnEnd = { readonly outcome: TurnOutcome } | { readonly rejection: unknown };

/** Differences of a check's turn from a plain prompt in which everything is allowed. */
export type TurnOptions = Partial<Omit<RecordingTurnOptions, "text">>;

/** Start options of a session, where that is not a first one of the driver under test. */
export interface SessionOptions {
  readonly driver?: Driver;
  readonly nativeId?: string | undefined;
  readonly history?: readonly Turn[];
  /** The id of the session that it is a fork of. */
  readonly forkOf?: string | undefined;
  /** The position at which the copy of that session has to end. */
  readonly position?: string | undefined;
  /** True if the running test closes it; true by default. */
  readonly closesWithTest?: boolean;
}

export const COMPLETED: TurnEnd = { outcome: { status: "completed" } };

const STOPS_WITHIN_MS = 2_000;
const TURN_WITHIN_MS = 20_000;

/** A driver for one check alone; nothing that is started from here on may be left at its end. */
export async function isolatedFixture(make: MakeDriver): Promise<DriverUnderTest> {
  leavesNoProcess();
  return make(onTestFinished);
}

/** Opens a session that is closed with the test at the latest, or takes the one that checks share. */
export async function open(under: DriverUnderTest, options?: SessionOptions): Promise<DriverSession> {
  if (options === undefined && under.openSession !== undefined) return under.openSession();
  return openWith(under, options ?? {});
}

async function openWith(under: DriverUnderTest, options: SessionOptions): Promise<DriverSession> {
  const { settings, sandbox = NO_COMMANDS } = under;
  const { driver = under.driver, nativeId, history = [], forkOf, position } = options;
  const session = await driver.open({
    threadId: mintId(),
    settings,
    nativeId,
    history: async () => history,
    handoffSummary: async () => "",
    forkOf: forkOf === undefined ? undefined : { nativeId: forkOf, position, handoffSummary: async () => "" },
    mcpServers: [],
    sandbox,
  });
  if (options.closesWithTest !== false) onTestFinished(() => session.close());
  return session;
}

/** A turn that records every event and request. */
export function turnOf(under: DriverUnderTest, text: string, options: TurnOptions = {}): RecordingTurn {
  return new RecordingTurn({ text, settings: under.settings, ...options });
}

/** Begins a turn in a session of its own. */
export async function begin(under: DriverUnderTest, text: string, options: TurnOptions = {}) {
  const session = await open(under);
  return beginIn(under, session, text, options);
}

/** Begins a turn in a session. */
export function beginIn(
  under: DriverUnderTest,
  session: DriverSession,
  text: string,
  options: TurnOptions = {},
) {
  const turn = turnOf(under, text, options);
  return { session, turn, ended: run(under, session, turn) };
}

/** Runs a turn to its end, which has to come in time. */
export function run(under: DriverUnderTest, session: DriverSession, turn: RecordingTurn): Promise<TurnEnd> {
  const running = session.run(turn).then(
    (outcome): TurnEnd => ({ outcome }),
    (rejection: unknown): TurnEnd => ({ rejection }),
  );
  const limit = under.turnWithinMs ?? TURN_WITHIN_MS;
  const ended = within(limit, running, "the turn did not end").finally(() => turn.end());
  // A test that waits for an event first fails on that event.
  ended.catch(() => {});
  return ended;
}

/** Stops a turn, which has to end in time and as interrupted. */
export async function expectStop(
  under: DriverUnderTest,
  turn: RecordingTurn,
  ended: Promise<TurnEnd>,
): Promise<void> {
  turn.stop();
  const result = await within(under.stopsWithinMs ?? STOPS_WITHIN_MS, ended, "the turn did not stop");
  expect(result).toEqual({ outcome: { status: "interrupted" } });
  await settled();
}

/** Checks that a turn failed with a message, whichever way. */
export function expectFailure(result: TurnEnd): void {
  if ("rejection" in result) expect(result.rejection).toBeInstanceOf(Error);
  else
    expect(result.outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/\S/) },
    });
}

/** The session for the turn after one that ended like this: as the core does, a rejection costs the session. */
export async function sessionAfter(
  under: DriverUnderTest,
  { session, turn }: { readonly session: DriverSession; readonly turn: RecordingTurn },
  result: TurnEnd,
): Promise<DriverSession> {
  if ("outcome" in result) return session;
  await session.close();
  return open(under, { nativeId: nativeIdOf(turn) });
}

/** The agent's own id of the session that a turn ran in, if reported. */
export function nativeIdOf(turn: RecordingTurn): string | undefined {
  return turn.events.findLast((event) => event.type === "session")?.nativeId;
}

/** Rejects with this failure if the work takes longer. */
export async function within<Value>(
  milliseconds: number,
  work: Promise<Value>,
  failure: string,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${failure} within ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The states in which the things that were asked for ended. */
export function statusesOfAsked(turn: RecordingTurn): unknown[] {
  const asked = new Set(turn.actions.map((action) => action.itemId));
  return turn.completedItems
    .filter((item) => asked.has(item.id))
    .map((item): unknown => Reflect.get(item, "status"));
}

/** All that the agent said in a turn. */
export function agentTextOf(turn: RecordingTurn): string {
  const texts = turn.completedItems.filter((item) => item.type === "agentMessage");
  return texts.map((item) => String(Reflect.get(item, "text"))).join("\n");
}

/** Reports whether this is a piece of the agent's text. */
export function isText(event: DriverEvent): boolean {
  return event.type === "item/agentMessage/delta";
}

const NO_COMMANDS: Sandbox = {
  state: async () => ({ available: false, mechanism: "none" }),
  launch: async () => refuseCommand(),
  start: async () => refuseCommand(),
};

function refuseCommand(): never {
  throw new Error(
    "This driver was tried without a sandbox; give one to describeDriver if it starts commands.",
  );
}
