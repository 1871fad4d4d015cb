import { describe, expect, test } from "vitest";
import { type Check, type CheckGroup, type CheckResult, runSuite, selected } from "./check.ts";
import { TestContext } from "./test-context.ts";
import { SmallServer } from "./testing/small-server.ts";
import { Failed, NotOffered } from "./wire/pattern.ts";
import type { Wire } from "./wire/wire.ts";

const ready = async (wire: Wire): Promise<void> => void (await wire.result("hello"));

const passes: Check = {
  name: "it passes",
  run: async (trial) => void (await (await trial.shared(ready)).result("x")),
};
const fails: Check = {
  name: "it fails",
  run: async (trial) => {
    await (await trial.shared(ready)).result("y");
    throw new Failed("because");
  },
};

function trialOf(server: SmallServer): TestContext {
  return new TestContext({ target: server, cwd: "/nowhere", header: false, timeoutMs: 5_000 });
}

function smallServer(shared?: boolean): SmallServer {
  return new SmallServer((line) => [{ id: line?.id, result: {} }], shared);
}

async function run(server: SmallServer, checks: readonly Check[]): Promise<CheckResult[]> {
  return runSuite({ groups: [{ about: "Things", checks }] }, trialOf(server), () => {});
}

describe("a run of checks", () => {
  test("reports each check as it ends: passed, failed with its reason, or not offered", async () => {
    const reported: string[] = [];
    const missing: Check = {
      name: "it is not there",
      run: async () => {
        throw new NotOffered("not supported");
      },
    };
    const broken: Check = { name: "it breaks", run: async () => JSON.parse("{") };
    const groups = [{ about: "Things", checks: [passes, fails, missing, broken] }];
    const findings = await runSuite({ groups }, trialOf(smallServer()), ({ name, outcome }) => {
      reported.push(`${name}: ${outcome}`);
    });
    expect(reported).toEqual([
      "it passes: passed",
      "it fails: failed",
      "it is not there: not offered",
      "it breaks: failed",
    ]);
    expect(findings.map(({ reason }) => reason?.slice(0, 13))).toEqual([
      undefined,
      "because",
      "not supported",
      expect.stringContaining("Expected"),
    ]);
  });

  test("keeps for each check only what went over the wire in it", async () => {
    const findings = await run(smallServer(), [passes, fails]);
    const sent = findings.map(({ conversations }) =>
      conversations
        .flat()
        .flatMap(({ direction, message }) => (direction === "sent" ? [message?.method] : [])),
    );
    expect(sent).toEqual([["hello", "x"], ["y"]]);
  });

  test("shares a connection among checks, but not after a failure, and closes every one", async () => {
    const server = smallServer();
    await run(server, [passes, passes, fails, passes]);
    expect(server.counts).toEqual({ opened: 2, closed: 2 });
  });

  test("has further connections only where they lead to the same server", async () => {
    const second: Check = { name: "two", run: async (trial) => void (await trial.another()) };
    expect(await run(smallServer(true), [second])).toMatchObject([{ outcome: "passed" }]);
    expect(await run(smallServer(false), [second])).toMatchObject([
      { outcome: "not offered", reason: expect.stringContaining("one connection") },
    ]);
  });
});

test("a selection takes whole groups or single sentences, in any case", () => {
  const groups: CheckGroup[] = [
    { about: "Turns", checks: [passes, fails] },
    { about: "Threads", checks: [fails] },
  ];
  const names = (only: string | undefined) =>
    selected(groups, only).map(({ about, checks }) => [about, ...checks.map(({ name }) => name)]);
  expect(names(undefined)).toEqual([
    ["Turns", "it passes", "it fails"],
    ["Threads", "it fails"],
  ]);
  expect(names("turns")).toEqual([["Turns", "it passes", "it fails"]]);
  expect(names("PASSES")).toEqual([["Turns", "it passes"]]);
  expect(names("nothing like it")).toEqual([]);
});
