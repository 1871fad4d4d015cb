import { PriceList } from "@flint/agent/prices";
import { expect, test } from "vitest";
import { NO_SANDBOX, sessionSpec, testSettings } from "../testing/session-spec.ts";
import { acpProfile } from "./descriptor.ts";
import { AcpDriver } from "./driver.ts";

const missing = () =>
  new AcpDriver({
    profile: acpProfile("opencode", []),
    program: async () => undefined,
    version: "0.0.0",
  });

test("offers the agent's own choice and the modes of the profile before the agent has run", async () => {
  const driver = missing();
  expect(await driver.models()).toMatchObject([{ id: "opencode/default", isDefault: true }]);
  expect(await driver.defaultModel()).toBe("opencode/default");
  expect(await driver.options("opencode/default", {})).toMatchObject([{ id: "mode", value: "build" }]);
});

test("accepts every model with its own id in front", () => {
  const driver = missing();
  expect(driver.qualify("opencode")).toBeUndefined();
  expect(driver.qualify("opencode/anthropic/claude")).toBe("opencode/anthropic/claude");
  expect(driver.qualify("opencode/")).toBeUndefined();
  expect(driver.qualify("other/model")).toBeUndefined();
});

test.each([
  ["opencode", { input: 0, output: 0 }, { tokens: "turn", costUsd: "free" }],
  ["opencode", { input: 2, output: 10 }, { tokens: "turn", costUsd: "turn" }],
  ["gemini", { input: 2, output: 10 }, { tokens: "turn", costUsd: "turn" }],
  ["gemini", undefined, { tokens: "turn", costUsd: "never", usesPrices: true }],
  ["other", { input: 2, output: 10 }, { tokens: "never", costUsd: "never" }],
  ["other", { input: 0, output: 0 }, { tokens: "never", costUsd: "free" }],
])("a configured price makes the cost of %s known where its usage does: %o", async (id, price, reports) => {
  const full =
    price === undefined ? undefined : { ...price, cacheRead: price.input, cacheWrite: price.input };
  const driver = new AcpDriver({
    ...{ profile: acpProfile(id, []), program: async () => undefined, version: "0.0.0" },
    prices: new PriceList(new Map([["some/model", { price: full }]])),
  });
  expect(await driver.usageReports(`${id}/some/model`)).toMatchObject(reports);
});

test("fails with the install command if the agent is missing", async () => {
  const opening = missing().open(sessionSpec(testSettings("opencode/default", "/"), NO_SANDBOX));
  await expect(opening).rejects.toThrow(
    "OpenCode was not found. Install it with `flint agents install opencode` or `npm install -g opencode-ai`",
  );
});
