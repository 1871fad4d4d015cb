import type { SessionSpec } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { leavesNoProcess, RecordingTurn, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { sessionSpec, testSettings } from "../testing/session-spec.ts";
import { fixtureDriver } from "./testing/acp-fixture.ts";

const EVERYTHING = "User: repair the lamp";
const THE_REST = "User: and paint it";

test("sends an agent that can fork a session only what the copy lacks", async () => {
  const { run } = await setUp(["--fork"]);
  const first = await run("text", {});
  const nativeId = first.nativeId ?? "";
  const copy = await run("echo", { forkOf: { nativeId, handoffSummary: async () => THE_REST } });
  expect(copy.answer).toContain(THE_REST);
  expect(copy.answer).not.toContain(EVERYTHING);
  expect(copy.nativeId).not.toBe(nativeId);
});

test("sends a summary if the fork fails or is not offered, and warns only about a failure", async () => {
  for (const [flags, notices] of [
    [["--fork-fails"], 1],
    [[], 0],
  ] as const) {
    const { run } = await setUp(flags);
    const { answer, turn } = await run("echo", {
      forkOf: { nativeId: "fixture-1", handoffSummary: async () => "" },
    });
    expect(answer).toContain(EVERYTHING);
    const warnings = turn.events.filter((event) => JSON.stringify(event).includes("copy of its session"));
    expect(warnings).toHaveLength(notices);
  }
});

async function setUp(flags: readonly string[]) {
  leavesNoProcess();
  const { path: cwd } = await temporaryFolder();
  const driver = fixtureDriver(flags);
  const settings = testSettings("fixture/default", cwd);
  const sandbox = new CommandSandbox({ environment: process.env });
  const run = async (text: string, spec: Pick<SessionSpec, "forkOf">) => {
    const handoffSummary = async () => (text === "text" ? "" : EVERYTHING);
    const session = await driver.open(sessionSpec(settings, sandbox, { handoffSummary, ...spec }));
    onTestFinished(() => session.close());
    const turn = new RecordingTurn({ text, settings });
    await session.run(turn).finally(() => turn.end());
    const messages = turn.completedItems.filter((item) => item.type === "agentMessage");
    const answer = messages.map((item) => String(Reflect.get(item, "text"))).join("\n");
    return { turn, answer, nativeId: turn.events.find((event) => event.type === "session")?.nativeId };
  };
  return { run };
}
