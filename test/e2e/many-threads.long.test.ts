import { readdirSync } from "node:fs";
import { temporaryFolder, WireClient } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { storeThreads } from "../torture/stored-threads.ts";
import { asMessage, FLINT, initialize, paramsOf, runTurn, startThread } from "./server.ts";

const STORED = 10_000;
const DESCRIPTORS = 256;
/** More than there would be descriptors for, if each loaded thread took one. */
const LOADED = 300;

/** Starts a server that may have only a few files open, as on a machine with a strict `ulimit -n`. */
function limitedServer(home: string, cwd: string): WireClient {
  const limited = ["sh", "-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "sh"];
  const wire = WireClient.spawn([...limited, process.execPath, FLINT, "serve", "--stdio"], {
    cwd,
    env: plainEnvironment(home),
  });
  onTestFinished(async () => {
    wire.kill("SIGKILL");
    await wire.exited;
  });
  return wire;
}

test("ten thousand threads, hundreds of them loaded, need no more than 256 descriptors", {
  timeout: 300_000,
}, async () => {
  const folder = await temporaryFolder();
  const home = folder.join("home");
  const stored = await storeThreads(home, STORED, folder.path);
  const wire = limitedServer(home, folder.path);
  await initialize(wire);

  const { data } = asMessage(await wire.request("thread/list", { limit: 20 }));
  expect(data).toHaveLength(20);
  await Promise.all(stored.slice(0, LOADED).map((threadId) => wire.request("thread/resume", { threadId })));
  const started = await Promise.all(Array.from({ length: LOADED }, () => startThread(wire)));
  expect(new Set(started).size).toBe(LOADED);
  expect(readdirSync(`/proc/${wire.pid}/fd`).length).toBeLessThan(DESCRIPTORS - 50);

  // The log of the first has been closed meanwhile, and is opened again.
  for (const threadId of [started[0] ?? "", stored[0] ?? ""]) {
    const turn = await runTurn(wire, threadId, "say hello", { cwd: folder.path, model: "flint/offline" });
    expect(paramsOf(turn, "turn/completed")).toMatchObject({ turn: { status: "completed" } });
  }
  const after = asMessage(await wire.request("thread/list", { limit: 1 }));
  expect(after.data).toMatchObject([{ id: stored[0] }]);
});
