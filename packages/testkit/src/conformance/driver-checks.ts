import { Action, ConfigOption, Model, TokenUsage } from "@flint/protocol";
import { expect } from "vitest";
import {
  type Arrange,
  agentTextOf,
  begin,
  beginIn,
  COMPLETED,
  expectFailure,
  expectStop,
  isText,
  nativeIdOf,
  open,
  run,
  statusesOfAsked,
  turnOf,
} from "./driver-trial.ts";
import { allFeatures, asStored, feature } from "./driver-under-test.ts";
import { lifecycleFaults, streamFaults } from "./recording-turn.ts";

/** One thing that is checked of a driver: rejects if it does not hold. */
export type DriverCheck = (arrange: Arrange) => Promise<void>;

/** Checks of the behaviour that the core relies on, with every agent. */
export const DRIVER_CHECKS = {
  "offers models with ids of its own, one of them the default, and valid selectors": checkCatalogue,
  "answers with text, every item whole and in order, and says what was used": checkText,
  "requests approval before it acts, and acts when allowed": checkAllowed,
  "does not act when denied": checkDenied,
  "stops while it streams, and emits nothing afterwards": checkStopWhileStreaming,
  "stops while a tool runs, and leaves no process": checkStopWhileToolRuns,
  "stops while it waits for an answer, and does not act": checkStopWhileAsking,
  "does nothing in a turn that was stopped before it began": checkStoppedBefore,
  "takes further input while it runs, and none afterwards, if it can be steered": checkSteering,
  "reports a failure as an outcome or a rejection": checkFailure,
  "does the next turn after one that was stopped": checkNextTurn,
  "is resumed by its own session id": checkResume,
  "ends permanently when it is closed, also during a turn and more than once": checkClose,
} as const satisfies Readonly<Record<string, DriverCheck>>;

async function checkCatalogue(arrange: Arrange): Promise<void> {
  const { driver } = await arrange();
  const models = await driver.models();
  for (const model of models) {
    expect(Model.safeParse(model).error, model.id).toBeUndefined();
    expect(model.id.startsWith(`${driver.id}/`), `${model.id} belongs to ${driver.id}`).toBe(true);
    for (const option of await driver.options(model.id, {})) checkOption(option);
  }
  expect(new Set(models.map((model) => model.id)).size, "ids are unique").toBe(models.length);
  expect(models.filter((model) => model.isDefault).length, "models that are the default").toBe(1);
}

function checkOption(option: ConfigOption): void {
  expect(ConfigOption.safeParse(option).error, option.id).toBeUndefined();
  expect(option.options.map((choice) => choice.id)).toContain(option.value);
}

async function checkText(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { turn, ended } = await begin(under, under.prompts.text);
  expect(await ended).toEqual(COMPLETED);
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
  expect(streamFaults(turn.events)).toEqual([]);
  expect(agentTextOf(turn).trim()).not.toBe("");
  const usages = turn.events.flatMap((event) => (event.type === "usage" ? [event.last] : []));
  for (const usage of usages) expect(TokenUsage.safeParse(usage).error).toBeUndefined();
  const used = usages.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  expect(used, "tokens that were used").toBeGreaterThan(0);
}

async function checkAllowed(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { turn, ended } = await begin(under, under.prompts.tool);
  expect(await ended).toEqual(COMPLETED);
  expect(turn.actions.length, "things that were asked for").toBeGreaterThan(0);
  for (const action of turn.actions) expect(Action.safeParse(action).error).toBeUndefined();
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
  expect(statusesOfAsked(turn)).toEqual(turn.actions.map(() => "completed"));
  if (under.toolRan !== undefined) expect(await under.toolRan(), "the tool ran").toBe(true);
}

async function checkDenied(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const decide = () => ({ outcome: "deny", scope: "once", message: "Not now." }) as const;
  const { turn, ended } = await begin(under, under.prompts.tool, { decide });
  await ended;
  expect(turn.actions.length, "things that were asked for").toBeGreaterThan(0);
  expect(statusesOfAsked(turn)).not.toContain("completed");
  expect(lifecycleFaults(turn.events, false)).toEqual([]);
  if (under.toolRan !== undefined) expect(await under.toolRan(), "the tool ran").toBe(false);
}

async function checkStopWhileStreaming(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { session, turn, ended } = await begin(under, under.prompts.stream);
  await turn.waitFor(isText);
  await expectStop(under, turn, ended);
  expect(lifecycleFaults(turn.events, false)).toEqual([]);
  await session.close();
  expect(turn.late, "what was reported after the end").toEqual([]);
}

async function checkStopWhileToolRuns(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { session, turn, ended } = await begin(under, under.prompts.longTool);
  const { itemId } = await turn.firstAction();
  await turn.waitFor((event) => event.type === "item/started" && event.item.id === itemId);
  await expectStop(under, turn, ended);
  expect(statusesOfAsked(turn)).not.toContain("completed");
  await session.close();
  expect(turn.late, "what was reported after the end").toEqual([]);
}

async function checkStopWhileAsking(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { turn, ended } = await begin(under, under.prompts.tool, { decide: () => undefined });
  await turn.firstAction();
  await expectStop(under, turn, ended);
  expect(statusesOfAsked(turn)).not.toContain("completed");
  if (under.toolRan !== undefined) expect(await under.toolRan(), "the tool ran").toBe(false);
}

async function checkStoppedBefore(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const session = await open(under);
  const turn = turnOf(under, under.prompts.tool);
  turn.stop();
  await expectStop(under, turn, run(under, session, turn));
  expect(turn.actions).toEqual([]);
}

async function checkSteering(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const session = await open(under);
  const canSteer = session.steer !== undefined;
  expect(under.prompts.steer !== undefined, "there is a prompt for steering exactly if it can be").toBe(
    canSteer,
  );
  if (session.steer === undefined || under.prompts.steer === undefined) return;
  const { turn, ended } = beginIn(under, session, under.prompts.steer);
  await turn.waitFor(() => true);
  expect(await session.steer([{ type: "text", text: "and one thing more" }])).toBe(true);
  expect(await ended).toEqual(COMPLETED);
  expect(lifecycleFaults(turn.events, true)).toEqual([]);
  expect(await session.steer([{ type: "text", text: "too late" }])).toBe(false);
}

async function checkFailure(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { turn, ended } = await begin(under, under.prompts.failure);
  expectFailure(await ended);
  expect(lifecycleFaults(turn.events, false)).toEqual([]);
}

async function checkNextTurn(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { session, turn, ended } = await begin(under, under.prompts.stream);
  await turn.waitFor(isText);
  await expectStop(under, turn, ended);
  const next = turnOf(under, under.prompts.text);
  expect(await run(under, session, next)).toEqual(COMPLETED);
  expect(lifecycleFaults([...turn.events, ...next.events], false)).toEqual([]);
  expect(turn.late, "what was reported after the end").toEqual([]);
}

async function checkResume(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const first = await begin(under, under.prompts.text);
  await first.ended;
  await first.session.close();
  const session = await open(under, { nativeId: nativeIdOf(first.turn) });
  expect(await run(under, session, turnOf(under, under.prompts.text))).toEqual(COMPLETED);
}

async function checkClose(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { session, turn, ended } = await begin(under, under.prompts.stream);
  await turn.waitFor(isText);
  await session.close();
  const result = await ended;
  if ("outcome" in result) expect(result.outcome.status).not.toBe("completed");
  await session.close();
  expect(turn.late, "what was reported after the end").toEqual([]);
}

/** Both sessions know the turns before the fork, and only the fork its own. */
export async function checkFork(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { prompt, ask, knowsBefore, knowsPrompt } = feature(under, "fork");
  const first = await begin(under, under.prompts.text);
  expect(await first.ended).toEqual(COMPLETED);
  const nativeId = nativeIdOf(first.turn);
  const history = nativeId === undefined ? [asStored(first.turn)] : [];
  const fork = await open(under, { forkOf: nativeId, history });
  const inFork = beginIn(under, fork, prompt);
  expect(await inFork.ended).toEqual(COMPLETED);
  const forkId = nativeIdOf(inFork.turn);
  expect(forkId === undefined, "the fork has an id of its own exactly if the original has one").toBe(
    nativeId === undefined,
  );
  if (nativeId !== undefined) expect(forkId, "the id of the fork").not.toBe(nativeId);
  const answer = async (session: Parameters<typeof beginIn>[1]) => {
    const { turn, ended } = beginIn(under, session, ask);
    expect(await ended).toEqual(COMPLETED);
    return agentTextOf(turn);
  };
  const ofFork = await answer(fork);
  expect(ofFork, "what the fork knows").toMatch(knowsBefore);
  expect(ofFork, "what the fork knows").toMatch(knowsPrompt);
  await first.session.close();
  const original = await open(under, { driver: await allFeatures(under).again(), nativeId, history });
  const ofOriginal = await answer(original);
  expect(ofOriginal, "what the original knows").toMatch(knowsBefore);
  expect(ofOriginal, "what the original knows").not.toMatch(knowsPrompt);
}

/** A fork of an earlier turn knows nothing of the later ones. */
export async function checkForkAtTurn(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { prompt, ask, knowsBefore, knowsPrompt, atAnyTurn } = feature(under, "fork");
  const first = await begin(under, under.prompts.text);
  expect(await first.ended).toEqual(COMPLETED);
  const position = first.turn.events.findLast((event) => event.type === "position")?.position;
  expect(position !== undefined, "it reports the position of its session").toBe(atAnyTurn);
  if (position === undefined) return;
  const forkOf = nativeIdOf(first.turn);
  const later = beginIn(under, first.session, prompt);
  expect(await later.ended).toEqual(COMPLETED);
  // The original may continue or be deleted; its later turns do not matter.
  const answer = async (session: Parameters<typeof beginIn>[1]) => {
    const { turn, ended } = beginIn(under, session, ask);
    expect(await ended).toEqual(COMPLETED);
    return { text: agentTextOf(turn), turn };
  };
  const ofFork = await answer(await open(under, { forkOf, position }));
  expect(ofFork.text, "what the fork knows").toMatch(knowsBefore);
  expect(ofFork.text, "what the fork knows").not.toMatch(knowsPrompt);
  expect(nativeIdOf(ofFork.turn), "the id of the fork").not.toBe(forkOf);
  expect((await answer(first.session)).text, "what the original knows").toMatch(knowsPrompt);
}

/** A fork of a session that no longer exists continues without it. */
export async function checkForkOfNothing(arrange: Arrange): Promise<void> {
  const under = await arrange();
  feature(under, "fork");
  const forkOf = "00000000-0000-4000-8000-000000000000";
  const session = await open(under, { forkOf });
  const { turn, ended } = beginIn(under, session, under.prompts.text);
  expect(await ended).toEqual(COMPLETED);
  expect(nativeIdOf(turn), "the id of the session").not.toBe(forkOf);
}
