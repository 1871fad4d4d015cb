import type { Driver } from "@flint/core/ports";
import { describe, expect, onTestFinished, test } from "vitest";
import { CodexDriver } from "./driver.ts";
import type { CodexTiming } from "./process/server.ts";
import { FakeCodex } from "./testing/fake-codex.ts";

const MODEL = {
  ...{ id: "m", model: "m", displayName: "M", description: "", hidden: false, isDefault: true },
  ...{ supportedReasoningEfforts: [], defaultReasoningEffort: "medium" },
};

function driverOf(fake: FakeCodex, timing: Partial<CodexTiming> = {}): CodexDriver {
  const program = async () => ({ command: ["codex"], environment: {} });
  const driver = new CodexDriver({ program, version: "1.2.3", sandbox: fake }, timing);
  onTestFinished(() => driver.close());
  return driver;
}

/** Lists the models and the options of each, as `model/list` of a client does. */
async function listed(driver: Driver): Promise<string[]> {
  const models = await driver.models();
  await Promise.all(models.map(({ id }) => driver.options(id, {})));
  return models.map(({ id }) => id);
}

function listRequests(fake: FakeCodex): number {
  return fake.messages.filter(({ method }) => method === "model/list").length;
}

describe("the list of Codex's models", () => {
  test("is requested once and cached [S2-27]", async () => {
    const fake = new FakeCodex();
    fake.answers.set("model/list", { data: [MODEL], nextCursor: null });
    const driver = driverOf(fake);
    for (const _each of [1, 2]) expect(await listed(driver)).toEqual(["codex/default", "codex/m"]);
    expect(listRequests(fake)).toBe(1);
  });

  test("stays cached after the process has ended", async () => {
    const fake = new FakeCodex();
    fake.answers.set("model/list", { data: [MODEL], nextCursor: null });
    const driver = driverOf(fake);
    await listed(driver);
    await driver.close();
    expect(await listed(driver)).toEqual(["codex/default", "codex/m"]);
    expect([listRequests(fake), fake.starts.length]).toEqual([1, 1]);
  });

  test("is requested once if Codex does not answer, not again for each model", async () => {
    const fake = new FakeCodex();
    fake.answers.delete("model/list");
    const driver = driverOf(fake, { list: 20 });
    for (const _each of [1, 2, 3]) expect(await listed(driver)).toEqual(["codex/default"]);
    expect(listRequests(fake)).toBe(1);
  });
});
