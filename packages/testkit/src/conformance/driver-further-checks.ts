import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { DriverEvent } from "@flint/core/ports";
import {
  type Action,
  type ConfigOption,
  type Decision,
  type FileUpdateChange,
  isKnownItem,
} from "@flint/protocol";
import { expect } from "vitest";
import { appliedDiff } from "./applied-diff.ts";
import { checkFork, checkForkAtTurn, checkForkOfNothing, type DriverCheck } from "./driver-checks.ts";
import {
  type Arrange,
  agentTextOf,
  begin,
  beginIn,
  COMPLETED,
  expectFailure,
  isText,
  nativeIdOf,
  open,
  run,
  sessionAfter,
  statusesOfAsked,
  turnOf,
} from "./driver-trial.ts";
import {
  allFeatures,
  asStored,
  type DriverUnderTest,
  type FileChangeTrial,
  feature,
  type ModelFailureKind,
  NotSupported,
} from "./driver-under-test.ts";
import { lifecycleFaults, streamFaults } from "./recording-turn.ts";

/** Checks of what users of every agent are promised beyond the minimum that the core relies on. */
export const FURTHER_DRIVER_CHECKS = {
  "changes a file exactly as it showed before": checkFileChange,
  "leaves a file alone when the change is declined": checkDeclinedChange,
  "applies an approval for the session to exactly that action and nothing else": checkSessionApproval,
  "answers what is steered into a running turn": checkSteered,
  "remembers the conversation when a new process resumes the thread": checkRecall,
  "continues a fork with the earlier conversation, without affecting the original session": checkFork,
  "continues in a fork of an earlier turn without what came after it": checkForkAtTurn,
  "goes on in a fork where there is no session to copy": checkForkOfNothing,
  "uses another model from the turn on that names it": checkOtherModel,
  "takes every value that its selectors offer": checkSelectors,
  "survives a request that its model refuses": (arrange) => checkFailing(arrange, "badRequest"),
  "survives a model that asks it to wait": (arrange) => checkFailing(arrange, "rateLimit"),
  "survives a model that is overloaded": (arrange) => checkFailing(arrange, "overloaded"),
  "survives an answer of its model that breaks off": (arrange) => checkFailing(arrange, "cutStream"),
  "fails the turn once when the agent is killed, and does the next one": checkKilled,
} as const satisfies Readonly<Record<string, DriverCheck>>;

const DENY: Decision = { outcome: "deny", scope: "once", message: "Not now." };
const FOR_SESSION: Decision = { outcome: "allow", scope: "session" };

async function checkFileChange(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const trial = feature(under, "fileChange");
  const path = await prepare(under, trial);
  const { turn, ended } = await begin(under, trial.prompt);
  expect(await ended).toEqual(COMPLETED);
  expect(await textAt(path), "the file afterwards").toBe(trial.after);
  const asked = turn.actions.flatMap((action) => (action.kind === "fileChange" ? [action.changes] : []));
  expect(asked.length, "changes that were asked for").toBeGreaterThan(0);
  expect(resultOf(asked, path, under, trial), "what was asked for").toBe(trial.after);
  const done = turn.completedItems.filter(isKnownItem).flatMap((item) => {
    return item.type === "fileChange" && item.status === "completed" ? [item.changes] : [];
  });
  expect(resultOf(done, path, under, trial), "what was reported as done").toBe(trial.after);
}

async function checkDeclinedChange(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const trial = feature(under, "fileChange");
  const path = await prepare(under, trial);
  const { turn, ended } = await begin(under, trial.prompt, { decide: () => DENY });
  await ended;
  expect(turn.actions.length, "changes that were asked for").toBeGreaterThan(0);
  expect(statusesOfAsked(turn)).not.toContain("completed");
  expect(await textAt(path), "the file afterwards").toBe(trial.before);
}

async function checkSessionApproval(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { sameAgain, otherTool } = feature(under, "sessionApproval");
  const session = await open(under);
  const decide = () => FOR_SESSION;
  const asked = async (prompt: string, options: { decide(action: Action): Decision }) => {
    const { turn, ended } = beginIn(under, session, prompt, options);
    await ended;
    return { turn, count: turn.actions.length, statuses: statusesOfAsked(turn) };
  };
  const first = await asked(under.prompts.tool, { decide });
  expect(first.count, "the first time it asks").toBeGreaterThan(0);
  expect(first.statuses).toEqual(first.turn.actions.map(() => "completed"));
  const second = await asked(under.prompts.tool, { decide });
  expect(second.count, "how often it asks for the same again").toBe(
    sameAgain === "asksAgain" ? first.count : 0,
  );
  const other = await asked(otherTool, { decide: () => DENY });
  expect(other.count, "how often it asks for something else").toBeGreaterThan(0);
  expect(other.statuses).not.toContain("completed");
}

async function checkSteered(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { more, says } = feature(under, "steering");
  const { session, turn, ended } = await begin(under, under.prompts.steer ?? "");
  await turn.waitFor(() => true);
  expect(await session.steer?.([{ type: "text", text: more }])).toBe(true);
  expect(await ended).toEqual(COMPLETED);
  expect(agentTextOf(turn)).toMatch(says);
}

async function checkRecall(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { ask, says } = feature(under, "recall");
  const first = await begin(under, under.prompts.text);
  expect(await first.ended).toEqual(COMPLETED);
  await first.session.close();
  const nativeId = nativeIdOf(first.turn);
  // An agent that resumes its own session has to know from it what was said.
  const history = nativeId === undefined ? [asStored(first.turn)] : [];
  const driver = await allFeatures(under).again();
  const session = await open(under, { driver, nativeId, history });
  const { turn, ended } = beginIn(under, session, ask);
  expect(await ended).toEqual(COMPLETED);
  expect(agentTextOf(turn)).toMatch(says);
}

async function checkOtherModel(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const { model, used } = feature(under, "otherModel");
  const session = await open(under);
  const usedBy = async (settings: DriverUnderTest["settings"]) => {
    const { ended } = beginIn(under, session, under.prompts.text, { settings });
    expect(await ended).toEqual(COMPLETED);
    return used();
  };
  expect(await usedBy(under.settings), "the other model is used before it is named").toBe(false);
  expect(await usedBy({ ...under.settings, model }), "the other model is used").toBe(true);
  expect(await usedBy(under.settings), "the other model is used afterwards").toBe(false);
}

async function checkSelectors(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const expected = feature(under, "selectors");
  const { driver, settings } = under;
  const offered = await driver.options(settings.model, {});
  expect(offered.map(({ id }) => id)).toEqual(expect.arrayContaining([...expected]));
  for (const { id, options } of offered) {
    for (const choice of options) {
      const shown = await driver.options(settings.model, { [id]: choice.id });
      expect(shown.find((option) => option.id === id)?.value, `${id} once it is chosen`).toBe(choice.id);
    }
  }
  const config = Object.fromEntries(offered.map((option) => [option.id, otherThanNow(option)]));
  // Some modes do not ask, which is refused to a user who wants to be asked about everything.
  const asked = { ...settings, config, approvalPolicy: "unlessTrusted" } as const;
  const { ended } = await begin(under, under.prompts.text, { settings: asked });
  expect(await ended, `a turn with ${JSON.stringify(config)}`).toEqual(COMPLETED);
}

async function checkFailing(arrange: Arrange, kind: ModelFailureKind): Promise<void> {
  const under = await arrange();
  const prompt = await feature(under, "failing")(kind);
  if (typeof prompt !== "string") throw new NotSupported(prompt.absent);
  const { session, turn, ended } = await begin(under, prompt);
  const result = await ended;
  const hasGoneOn = "outcome" in result && result.outcome.status === "completed";
  if (hasGoneOn) {
    expect(kind, "a refused request cannot be completed").not.toBe("badRequest");
    // An agent may ask for the rest of an answer without reporting it.
    const isRetried = kind === "cutStream" || turn.events.some(isRetry);
    expect(isRetried, "it says that it tries again").toBe(true);
    expect(streamFaults(turn.events)).toEqual([]);
  } else expectFailure(result);
  const last = turn.events.filter((event) => event.type === "error" && !event.willRetry);
  expect(last.length, "failures that are reported as final").toBeLessThanOrEqual(hasGoneOn ? 0 : 1);
  expect(lifecycleFaults(turn.events, hasGoneOn)).toEqual([]);
  await expectNextTurn(under, { session, turn }, result);
}

async function checkKilled(arrange: Arrange): Promise<void> {
  const under = await arrange();
  const processes = feature(under, "processes");
  const { session, turn, ended } = await begin(under, under.prompts.stream);
  await turn.waitFor(isText);
  const running = processes();
  expect(running.length, "processes of the agent").toBeGreaterThan(0);
  for (const pid of running) kill(pid);
  const result = await ended;
  expectFailure(result);
  expect(lifecycleFaults(turn.events, false)).toEqual([]);
  await expectNextTurn(under, { session, turn }, result);
  expect(turn.late, "what was reported after the end").toEqual([]);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    // Expected: it went with the one that was killed before it.
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH")) throw thrown;
  }
}

async function expectNextTurn(
  under: DriverUnderTest,
  before: Parameters<typeof sessionAfter>[1],
  result: Parameters<typeof sessionAfter>[2],
): Promise<void> {
  const session = await sessionAfter(under, before, result);
  const next = await run(under, session, turnOf(under, under.prompts.text));
  expect(next, "the next turn").toEqual(COMPLETED);
}

async function prepare(under: DriverUnderTest, { path, before }: FileChangeTrial): Promise<string> {
  const whole = resolve(under.settings.cwd, path);
  await mkdir(dirname(whole), { recursive: true });
  if (before !== undefined) await writeFile(whole, before);
  return whole;
}

async function textAt(path: string): Promise<string | undefined> {
  // Expected: no such file.
  return readFile(path, "utf8").catch(() => undefined);
}

/** Applies the diffs for a file to its text, one after the other. */
function resultOf(
  changes: readonly (readonly FileUpdateChange[])[],
  path: string,
  { settings }: DriverUnderTest,
  { before = "" }: FileChangeTrial,
): string {
  const own = changes.flat().filter((change) => resolve(settings.cwd, change.path) === path);
  return own.reduce((text, { diff }) => appliedDiff(text, diff), before);
}

function otherThanNow({ options, value }: ConfigOption): string {
  return options.findLast((choice) => choice.id !== value)?.id ?? String(value);
}

function isRetry(event: DriverEvent): boolean {
  return event.type === "error" && event.willRetry;
}
