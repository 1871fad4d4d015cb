import { mkdir, writeFile } from "node:fs/promises";
import {
  descendantsOf,
  leavesNoProcess,
  needs,
  temporaryFolder,
  WireClient,
  waitForExit,
} from "@flint/testkit";
import { expect } from "vitest";
import { completedItems, FLINT, initialize, runTurn, startThread } from "./server.ts";

/** Time after the end of its server within which everything must be gone. */
const WITHIN_MS = 2_000;

/** A command with children of its own, one of which tries to get away into a session of its own. */
const COMMAND = "(setsid sleep 3600 &); sleep 3600 & echo up; wait";

const SCRIPT = [
  [{ call: "shell", input: { command: COMMAND, background: true } }],
  [{ call: "shell_output", input: { process_id: "1" } }],
  [{ text: "It runs." }],
];

const POLICIES = ["workspaceWrite", "dangerFullAccess"] as const;
const WAYS = ["SIGKILL", "SIGTERM", "end of input"] as const;

for (const sandbox of POLICIES) {
  for (const way of WAYS) {
    needs("namespaces")(
      `nothing of a command in the background (${sandbox}) outlives its server after ${way} [P23]`,
      () => outlive(sandbox, way),
    );
  }
}

async function outlive(sandbox: (typeof POLICIES)[number], way: (typeof WAYS)[number]): Promise<void> {
  leavesNoProcess(WITHIN_MS);
  const wire = await startServer();
  await initialize(wire);
  const threadId = await startThread(wire, { sandbox, approvalPolicy: "never" });
  const messages = await runTurn(wire, threadId, "start it");
  expect(completedItems(messages, "commandExecution")).toMatchObject([{ status: "completed" }]);
  expect(JSON.stringify(completedItems(messages, "toolCall"))).toContain("It is still running.");
  const sleepers = () =>
    descendantsOf(wire.pid ?? 0).filter(({ command }) => command.startsWith("sleep 3600"));
  await expect.poll(() => sleepers().length, { timeout: 10_000 }).toBeGreaterThanOrEqual(1);
  const running = descendantsOf(wire.pid ?? 0);
  if (way === "end of input") wire.end();
  else wire.kill(way);
  await wire.exited;
  await waitForExit(running, WITHIN_MS);
}

async function startServer(): Promise<WireClient> {
  const folder = await temporaryFolder();
  await mkdir(folder.join("workspace"));
  await writeFile(folder.join("script.json"), JSON.stringify({ steps: SCRIPT }));
  return WireClient.spawn([process.execPath, FLINT, "serve", "--stdio", "--allow-unconfined"], {
    cwd: folder.join("workspace"),
    env: {
      FLINT_HOME: folder.join("home"),
      FLINT_OFFLINE_SCRIPT: folder.join("script.json"),
      FLINT_MODEL: "flint/offline",
      XDG_STATE_HOME: undefined,
    },
  });
}
