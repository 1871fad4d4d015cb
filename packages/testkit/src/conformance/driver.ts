import type { Driver, DriverEvent, DriverSession, Sandbox, TurnOutcome } from "@flint/core/ports";
import { Action, ConfigOption, Model, mintId, type ThreadSettings, TokenUsage } from "@flint/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { settled } from "../clock.ts";
import { leavesNoProcess } from "../processes.ts";
import { lifecycleFaults, streamFaults } from "./item-lifecycle.ts";
import { RecordingTurn, type RecordingTurnOptions } from "./recording-turn.ts";

/** What to say to an agent so that it behaves in a certain way. */
export interface DriverPrompts {
  /** It answers with some text and ends. */
  readonly text: string;
  /** It does one thing that it asks to be allowed, then ends. */
  readonly tool: string;
  /** It streams text until it is stopped. */
  readonly stream: string;
  /** It does something that it asks to be allowed and that lasts until it is stopped. */
  readonly longTool: string;
  /** The turn fails. */
  readonly failure: string;
  /** It waits for further input, then ends. Needed exactly if its sessions can be steered. */
  readonly steer?: string;
}

/** A driver with what the suite needs to try it. */
export interface DriverUnderTest {
  readonly driver: Driver;
  readonly settings: ThreadSettings;
  readonly prompts: DriverPrompts;
  /** Given to its sessions; one that refuses every command unless told. */
  readonly sandbox?: Sandbox;
  /** Whether the thing of the `tool` prompt was done, seen by its effect. */
  readonly toolRan?: () => boolean | Promise<boolean>;
  /** How long it may take to stop. */
  readonly stopsWithinMs?: number;
  /** How long any of the turns may take. */
  readonly turnWithinMs?: number;
}

type Settled = { readonly outcome: TurnOutcome } | { readonly rejection: unknown };
type TurnWishes = Partial<Omit<RecordingTurnOptions, "text" | "settings">>;

const STOPS_WITHIN_MS = 2_000;
const TURN_WITHIN_MS = 20_000;

/** One suite for every driver: what the core relies on, whatever the agent behind it is. */
export function describeDriver(name: string, make: () => Promise<DriverUnderTest>): void {
  describe(`${name}, as any driver`, () => {
    test("offers models with ids of its own, one of them the default, and valid selectors", () =>
      checkCatalogue(make));
    test("answers with text, every item whole and in order, and says what was used", () => checkText(make));
    test("asks before it acts, and acts when allowed", () => checkAllowed(make));
    test("does not act when denied", () => checkDenied(make));
    test("stops while it streams, and is silent afterwards", () => checkStopWhileStreaming(make));
    test("stops while a tool runs, and leaves no process", () => checkStopWhileToolRuns(make));
    test("stops while it waits for an answer, and does not act", () => checkStopWhileAsking(make));
    test("does nothing in a turn that was stopped before it began", () => checkStoppedBefore(make));
    test("takes further input while it runs, and none afterwards, if it can be steered", () =>
      checkSteering(make));
    test("tells a failure as an outcome or a rejection", () => checkFailure(make));
    test("does the next turn after one that was stopped", () => checkNextTurn(make));
    test("is taken up again by its own session id", () => checkResume(make));
    test("ends for good when it is closed, also in the middle of a turn and more than once", () =>
      checkClose(make));
  });
}

async function checkCatalogue(make: () => Promise<DriverUnderTest>): Promise<void> {
  const { driver } = await arrange(make);
  const models = await driver.models();
  for (const model of models) {
    expect(Model.safeParse(model).error, model.id).toBeUndefined();
    expect(model.id.startsWith(`${driver.id}/`), `${model.id} belongs to ${driver.id}`).toBe(true);
    for (const option of await driver.options(model.id, {})) checkOption(option);
  }
  expect(new Set(models.map((model) => model.id)).size, "ids are unique").toBe(models.length);
  expect(models.filter((model) => model.isDefault).length).toBe(1);
}

function checkOption(option: ConfigOption): void {
  expect(ConfigOption.safeParse(option).error, option.id).toBeUndefined();
  expect(option.options.map((choice) => choice.id)).toContain(option.value);
}

async function checkText(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { turn, ended } = await begin(under, under.prompts.text);
  expect(await ended).toEqual({ outcome: { status: "completed" } });
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
  expect(streamFaults(turn.events)).toEqual([]);
  const texts = turn.completedItems.flatMap((item) => (item.type === "agentMessage" ? [textOf(item)] : []));
  expect(texts.join("").trim()).not.toBe("");
  const usages = turn.events.flatMap((event) => (event.type === "usage" ? [event.last] : []));
  expect(usages.length).toBeGreaterThan(0);
  for (const usage of usages) expect(TokenUsage.safeParse(usage).error).toBeUndefined();
}

async function checkAllowed(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { turn, ended } = await begin(under, under.prompts.tool);
  expect(await ended).toEqual({ outcome: { status: "completed" } });
  expect(turn.actions.length).toBeGreaterThan(0);
  for (const action of turn.actions) expect(Action.safeParse(action).error).toBeUndefined();
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
  expect(statusesOfAsked(turn)).toEqual(turn.actions.map(() => "completed"));
  if (under.toolRan !== undefined) expect(await under.toolRan(), "the tool ran").toBe(true);
}

async function checkDenied(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const decide = () => ({ outcome: "deny", scope: "once", message: "Not now." }) as const;
  const { turn, ended } = await begin(under, under.prompts.tool, { decide });
  await ended;
  expect(turn.actions.length).toBeGreaterThan(0);
  expect(statusesOfAsked(turn)).not.toContain("completed");
  expect(lifecycleFaults(turn.events, false)).toEqual([]);
  if (under.toolRan !== undefined) expect(await under.toolRan(), "the tool ran").toBe(false);
}

async function checkStopWhileStreaming(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { session, turn, ended } = await begin(under, under.prompts.stream);
  await turn.waitFor(isText);
  await expectStop(under, turn, ended);
  expect(lifecycleFaults(turn.events, false)).toEqual([]);
  await session.close();
  expect(turn.late).toEqual([]);
}

async function checkStopWhileToolRuns(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { session, turn, ended } = await begin(under, under.prompts.longTool);
  const { itemId } = await turn.firstAction();
  await turn.waitFor((event) => event.type === "item/started" && event.item.id === itemId);
  await expectStop(under, turn, ended);
  expect(statusesOfAsked(turn)).not.toContain("completed");
  await session.close();
  expect(turn.late).toEqual([]);
}

async function checkStopWhileAsking(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { turn, ended } = await begin(under, under.prompts.tool, { decide: () => undefined });
  await turn.firstAction();
  await expectStop(under, turn, ended);
  expect(statusesOfAsked(turn)).not.toContain("completed");
  if (under.toolRan !== undefined) expect(await under.toolRan(), "the tool ran").toBe(false);
}

async function checkStoppedBefore(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const session = await open(under);
  const turn = turnOf(under, under.prompts.tool, {});
  turn.stop();
  await expectStop(under, turn, run(under, session, turn));
  expect(turn.actions).toEqual([]);
}

async function checkSteering(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const session = await open(under);
  const canSteer = session.steer !== undefined;
  expect(under.prompts.steer !== undefined, "there is a prompt for steering exactly if it can be").toBe(
    canSteer,
  );
  if (session.steer === undefined || under.prompts.steer === undefined) return;
  const turn = turnOf(under, under.prompts.steer, {});
  const ended = run(under, session, turn);
  await turn.waitFor(() => true);
  expect(await session.steer([{ type: "text", text: "and one thing more" }])).toBe(true);
  expect(await ended).toEqual({ outcome: { status: "completed" } });
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
  expect(await session.steer([{ type: "text", text: "too late" }])).toBe(false);
}

async function checkFailure(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { turn, ended } = await begin(under, under.prompts.failure);
  const result = await ended;
  if ("rejection" in result) expect(result.rejection).toBeInstanceOf(Error);
  else
    expect(result.outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/\S/) },
    });
  expect(lifecycleFaults(turn.events, false)).toEqual([]);
}

async function checkNextTurn(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { session, turn, ended } = await begin(under, under.prompts.stream);
  await turn.waitFor(isText);
  await expectStop(under, turn, ended);
  const next = turnOf(under, under.prompts.text, {});
  expect(await run(under, session, next)).toEqual({ outcome: { status: "completed" } });
  expect(lifecycleFaults([...turn.events, ...next.events], false)).toEqual([]);
  expect(turn.late).toEqual([]);
}

async function checkResume(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const first = await begin(under, under.prompts.text);
  await first.ended;
  await first.session.close();
  const nativeId = first.turn.events.findLast((event) => event.type === "session")?.nativeId;
  const { ended } = await begin(under, under.prompts.text, {}, nativeId);
  expect(await ended).toEqual({ outcome: { status: "completed" } });
}

async function checkClose(make: () => Promise<DriverUnderTest>): Promise<void> {
  const under = await arrange(make);
  const { session, turn, ended } = await begin(under, under.prompts.stream);
  await turn.waitFor(isText);
  await session.close();
  const result = await ended;
  if ("outcome" in result) expect(result.outcome.status).not.toBe("completed");
  await session.close();
  expect(turn.late).toEqual([]);
}

async function arrange(make: () => Promise<DriverUnderTest>): Promise<DriverUnderTest> {
  leavesNoProcess();
  return make();
}

async function open(under: DriverUnderTest, nativeId?: string): Promise<DriverSession> {
  const { driver, settings, sandbox = NO_COMMANDS } = under;
  const session = await driver.open({
    threadId: mintId(),
    settings,
    nativeId,
    history: async () => [],
    mcpServers: [],
    sandbox,
  });
  onTestFinished(() => session.close());
  return session;
}

function turnOf(under: DriverUnderTest, text: string, wishes: TurnWishes): RecordingTurn {
  return new RecordingTurn({ text, settings: under.settings, ...wishes });
}

async function begin(under: DriverUnderTest, text: string, wishes: TurnWishes = {}, nativeId?: string) {
  const session = await open(under, nativeId);
  const turn = turnOf(under, text, wishes);
  return { session, turn, ended: run(under, session, turn) };
}

/** Runs a turn to its end, which has to come in time. */
function run(under: DriverUnderTest, session: DriverSession, turn: RecordingTurn): Promise<Settled> {
  const running = session.run(turn).then(
    (outcome): Settled => ({ outcome }),
    (rejection: unknown): Settled => ({ rejection }),
  );
  const limit = under.turnWithinMs ?? TURN_WITHIN_MS;
  const ended = within(limit, running, "the turn did not end").finally(() => turn.end());
  // A test that waits for an event first is told by the event that it waits in vain.
  ended.catch(() => {});
  return ended;
}

async function expectStop(
  under: DriverUnderTest,
  turn: RecordingTurn,
  ended: Promise<Settled>,
): Promise<void> {
  turn.stop();
  const result = await within(under.stopsWithinMs ?? STOPS_WITHIN_MS, ended, "the turn did not stop");
  expect(result).toEqual({ outcome: { status: "interrupted" } });
  await settled();
}

async function within<Value>(milliseconds: number, work: Promise<Value>, failure: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${failure} within ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function statusesOfAsked(turn: RecordingTurn): unknown[] {
  const asked = new Set(turn.actions.map((action) => action.itemId));
  return turn.completedItems
    .filter((item) => asked.has(item.id))
    .map((item): unknown => Reflect.get(item, "status"));
}

function isText(event: DriverEvent): boolean {
  return event.type === "item/agentMessage/delta";
}

function textOf(item: object): string {
  return String(Reflect.get(item, "text"));
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
