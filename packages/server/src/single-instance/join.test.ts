import { readFileSync, writeFileSync } from "node:fs";
import { TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { serverFile } from "../config/environment.ts";
import { Frontends } from "../frontends.ts";
import { Listening } from "../serve/listening.ts";
import { joinOrClaim, joinRunning } from "./join.ts";

const CWD = "/code";

/** A state folder with a server that runs for it. */
async function running(): Promise<string> {
  const { path: folder } = await temporaryFolder();
  const bare = { addresses: [], token: undefined, allowOrigins: [], allowHosts: [] } as const;
  const plan = { ...bare, protocol: "flint", root: "flint", presence: { folder, cwd: CWD } } as const;
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
  "does not join a server that was started with another %s",
  async (name) => {
    const folder = await running();
    set(name, "/something/else");
    expect(await joinRunning({ folder, protocol: "flint", cwd: CWD })).toEqual({
      end: undefined,
      reason: "it was started with different environment variables",
    });
  },
);

test("does not join a server of another version", async () => {
  const folder = await running();
  const file = serverFile(folder);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), version: "0.0.0" }));
  const reason = "it is Flint 0.0.0";
  expect(await joinRunning({ folder, protocol: "flint", cwd: CWD })).toEqual({ end: undefined, reason });
});

test("stops waiting at once for a server that it cannot join", async () => {
  const folder = await running();
  set("FLINT_MODEL", "something/else");
  const patience = { totalMs: 0, pollMs: 1 };
  expect(await joinOrClaim({ folder, protocol: "flint", cwd: CWD }, patience)).toEqual({
    end: undefined,
    reason: "it was started with different environment variables",
  });
});

test("gives no reason if no server is running", async () => {
  const { path: empty } = await temporaryFolder();
  expect(await joinRunning({ folder: empty, protocol: "flint", cwd: CWD })).toEqual({ end: undefined });
});
