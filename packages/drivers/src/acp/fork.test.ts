import type { SessionSpec } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { mintId, type ThreadSettings } from "@flint/protocol";
import { leavesNoProcess, RecordingTurn, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { fixtureDriver } from "./testing/acp-fixture.ts";

const EVERYTHING = "User: mend the lamp";
const THE_REST = "User: and paint it";

test("sends an agent that can fork a session only what the copy lacks", async () => {
  const { run } = await bench(["--fork"]);
  const first = await run("text", {});
  const nativeId = first.nativeId ?? "";
  const copy = await run("echo", { forkOf: { nativeId, handoffSummary: async () => THE_REST } });
  expect(copy.said).toContain(THE_REST);
  expect(copy.said).not.toContain(EVERYTHING);
  expect(copy.nativeId).not.toBe(nativeId);
});

test("sends a summary if the fork fails or is not offered, and warns only about a failure", async () => {
  for (const [flags, notices] of [
    [["--fork-fails"], 1],
    [[], 0],
  ] as const) {
    const { run } = await bench(flags);
    const { said, turn } = await run("echo", {
      forkOf: { nativeId: "fixture-1", handoffSummary: async () => "" },
    });
    expect(said).toContain(EVERYTHING);
    const told = turn.events.filter((event) => JSON.stringify(event).includes("copy of its session"));
    expect(told).toHaveLength(notices);
  }
});

async function bench(flags: readonly string[]) {
  leavesNoProcess();
  const { path: cwd } = await temporaryFolder();
  const driver = fixtureDriver(flags);
  const settings: ThreadSettings = {
    ...{ model: "fixture/default", cwd, approvalPolicy: "always", config: {} },
    sandboxPolicy: { type: "workspaceWrite" },
  };
  const run = async (text: string, wishes: Pick<SessionSpec, "forkOf">) => {
    const session = await driver.open({
      ...{ threadId: mintId(), settings, nativeId: undefined, mcpServers: [], ...wishes },
      history: async () => [],
      handoffSummary: async () => (text === "text" ? "" : EVERYTHING),
      sandbox: new CommandSandbox({ environment: process.env }),
    });
    onTestFinished(() => session.close());
    const turn = new RecordingTurn({ text, settings });
    await session.run(turn).finally(() => turn.end());
    const messages = turn.completedItems.filter((item) => item.type === "agentMessage");
    const said = messages.map((item) => String(Reflect.get(item, "text"))).join("\n");
    return { turn, said, nativeId: turn.events.find((event) => event.type === "session")?.nativeId };
  };
  return { run };
}
