import { readFileSync, writeFileSync } from "node:fs";
import { TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { serverFile } from "../config/environment.ts";
import { Frontends } from "../frontends.ts";
import { Listening } from "../listeners/listening.ts";
import { joinOrClaim, joinRunning } from "./join.ts";

const CWD = "/work";

/** A state folder with a server that runs for it. */
async function running(): Promise<string> {
  const { path: folder } = await temporaryFolder();
  const bare = { addresses: [], token: undefined, allowOrigins: [], allowHosts: [] } as const;
  const plan = { ...bare, door: "flint", root: "flint", presence: { folder, cwd: CWD } } as const;
  const listening = await Listening.start(new Frontends(testEngine().engine), plan, new TestClock());
  onTestFinished(async () => {
    await listening.withdraw();
    await listening.close();
  });
  return folder;
}

/** Gives this process another value of a variable until the test ends. */
function set(name: string, value: string): void {
  const { [name]: before } = process.env;
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

test.each(["FLINT_MODEL", "FLINT_MODEL_URL", "FLINT_CONFIG", "ANTHROPIC_BASE_URL", "CODEX_EXECUTABLE"])(
  "a server that was started with another %s is not joined, and the client is told",
  async (name) => {
    const folder = await running();
    set(name, "/something/else");
    expect(await joinRunning({ folder, door: "flint", cwd: CWD })).toEqual({
      end: undefined,
      reason: "it was started with other settings in its environment",
    });
  },
);

test("a server of another version is not joined, and the client is told", async () => {
  const folder = await running();
  const file = serverFile(folder);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), version: "0.0.0" }));
  const reason = "it is Flint 0.0.0";
  expect(await joinRunning({ folder, door: "flint", cwd: CWD })).toEqual({ end: undefined, reason });
});

test("whoever waits for the server of a folder is told at once that it is another one", async () => {
  const folder = await running();
  set("FLINT_MODEL", "something/else");
  const patience = { wholeMs: 0, roundMs: 1 };
  expect(await joinOrClaim({ folder, door: "flint", cwd: CWD }, patience)).toEqual({
    end: undefined,
    reason: "it was started with other settings in its environment",
  });
});

test("where none runs there is nothing to say", async () => {
  const { path: empty } = await temporaryFolder();
  expect(await joinRunning({ folder: empty, door: "flint", cwd: CWD })).toEqual({ end: undefined });
});
