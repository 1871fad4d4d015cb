import { basename } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { openFixture } from "./testing/acp-fixture.ts";

const COMPLETED = { status: "completed" };

describe("an agent that fails", () => {
  test("and dies in a turn fails it once with its last output, and its session is resumed by the next [P24]", async () => {
    const { run } = await openFixture();
    const { turn, outcome } = await run("crash");
    expect(outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("segmentation fault") },
    });
    const next = await run("text");
    expect(next.outcome).toEqual(COMPLETED);
    expect(next.answer).toBe("Hello, loaded world.");
    const sessions = [turn, next.turn].map(({ events }) => events.filter(({ type }) => type === "session"));
    expect(sessions.map((of) => of.map((event) => Reflect.has(event, "cost")))).toEqual([[false], [true]]);
  });

  test("and does not cancel a turn is stopped, and the next turn works", async () => {
    const { begin, run } = await openFixture({ flags: ["--deaf"], profile: { cancelMs: 50 } });
    const { turn, ended } = begin("stream");
    await turn.waitFor((event) => event.type === "item/agentMessage/delta");
    turn.stop();
    expect(await ended).toEqual({ status: "interrupted" });
    expect((await run("text")).outcome).toEqual(COMPLETED);
    expect(turn.late).toEqual([]);
  });

  test("and prints too many malformed lines is stopped", async () => {
    const { run } = await openFixture();
    expect((await run("garbage")).outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("lines that are not messages") },
    });
  });

  test("cannot be opened, and reports why", async () => {
    const opening = (flag: string, profile = {}) => openFixture({ flags: [flag], profile });
    await expect(opening("--exit")).rejects.toThrow(/exit code 3.*no configuration found/s);
    await expect(opening("--mute", { startMs: 100 })).rejects.toThrow(/"initialize" was not answered/);
    await expect(opening("--version-2")).rejects.toThrow(/uses version 2/);
    await expect(
      opening("--login", { login: { command: "fixture login", hint: "fixture login" } }),
    ).rejects.toThrow("Fixture is not logged in. Run: fixture login. It offers: Set FIXTURE_KEY.");
  });

  test("is logged in by the key that it was given", async () => {
    const apiKeyLogin = { methodId: "fixture-key", variable: "FIXTURE_KEY" };
    const login = { flags: ["--key-login"], profile: { apiKeyLogin } };
    await expect(openFixture({ ...login, environment: { FIXTURE_KEY: "wrong" } })).rejects.toThrow(
      "not logged in",
    );
    const { run } = await openFixture({ ...login, environment: { FIXTURE_KEY: "right" } });
    expect((await run("text")).outcome).toEqual(COMPLETED);
  });
});

needs("namespaces")("the whole agent is held by the policy of the turn, also when that changes", async () => {
  const { run, folder, settings } = await openFixture({ policy: { type: "readOnly" } });
  const outside = `/var/tmp/${basename(folder.path)}`;
  const tries = `run touch ${folder.join("in")}; touch ${outside}; ls ${folder.path} ${outside} 2>&1`;
  const printed = async (sandboxPolicy: typeof settings.sandboxPolicy) => {
    const { turn } = await run(tries, { settings: { ...settings, sandboxPolicy } });
    return turn.completedItems.flatMap((item) =>
      "aggregatedOutput" in item ? [item.aggregatedOutput] : [],
    )[0];
  };
  expect(await printed({ type: "readOnly" })).not.toMatch(/^in$/m);
  const writable = await printed({ type: "workspaceWrite" });
  expect(writable).toMatch(/^in$/m);
  expect(writable).toMatch(/No such file/);
});
