import { fileURLToPath } from "node:url";
import { CommandSandbox } from "@flint/host/sandbox";
import { descendantsOf, leavesNoProcess, temporaryFolder, testEngine, waitForExit } from "@flint/testkit";
import { expect, test } from "vitest";
import { builtInDrivers } from "./index.ts";

const IDLE_MS = 60_000;
const ACP_AGENT = fileURLToPath(new URL("./acp/fixtures/agent.mjs", import.meta.url));

/** A thread of the fixture agent that has had one turn and has been idle since. */
async function idleThread(...args: readonly string[]) {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const command = [process.execPath, ACP_AGENT, ...args, path];
  const options = { program: async () => ({ command, environment: { HOME: path } }), version: "0.0.0" };
  const [, ...otherDrivers] = builtInDrivers({}, [{ id: "fixture", command, options }]);
  const sandbox = new CommandSandbox({ environment: process.env });
  const sandboxPolicy = { type: "dangerFullAccess" } as const;
  const made = testEngine({ otherDrivers, idleMs: IDLE_MS, cwd: path, sandboxPolicy, sandbox });
  const client = made.connect();
  const threadId = await client.startThread({ model: "fixture/default" });
  await client.runTurn(threadId, "hello");
  const agents = () => descendantsOf(process.pid).filter(({ command: line }) => line.includes(path));
  const started = agents();
  expect(started.length).toBeGreaterThan(0);
  await made.clock.advance(2 * IDLE_MS);
  return { client, threadId, agents, started };
}

test("keeps the process of an idle agent whose session cannot be resumed", async () => {
  const { client, threadId, agents, started } = await idleThread();
  expect((await client.runTurn(threadId, "hello")).status).toBe("completed");
  expect(agents()).toEqual(started);
});

test("stops the process of an idle agent whose session can be resumed", async () => {
  // The profile of Goose goes by the name of the program.
  const { started } = await idleThread("goose");
  await waitForExit(started);
});

test("names the kind of an agent that has another name", () => {
  const options = { program: async () => ({ command: ["codex"], environment: {} }), version: "0.0.0" };
  const drivers = builtInDrivers({}, [
    { id: "codex", command: ["codex"], options },
    { id: "work", driver: "codex", command: ["codex"], options },
  ]);
  const kinds = drivers.map(({ id, kind }) => ({ id, kind })).filter(({ id }) => id !== "flint");
  expect(kinds).toEqual([
    { id: "codex", kind: undefined },
    { id: "work", kind: "codex" },
  ]);
});
