import { ALL_CAPABILITIES } from "@flint/core/ports";
import { ScriptedDriver } from "@flint/testkit";
import { expect, test } from "vitest";
import type { AgentDescriptor, AgentOptions } from "./agent.ts";
import { LazyDriver } from "./driver.ts";

const LAMP: AgentDescriptor = {
  ...{ id: "lamp", displayName: "Lamp", command: ["lamp"], ownVariables: /^LAMP_/, install: undefined },
  ...{
    credentials: { variables: [], files: [] },
    hosts: [],
    project: { files: [], hides: [] },
    login: undefined,
  },
  ...{
    usageReports: { tokens: "call", steps: "call", costUsd: "call" },
    provider: "lighting",
    capabilities: ALL_CAPABILITIES,
    passedSettings: [],
    asksToWrite: true,
    stopsWhenIdle: true,
  },
};

const INSTALLED: AgentOptions = {
  program: async () => ({ command: ["lamp"], environment: {} }),
  version: "0.0.0",
};
const MISSING: AgentOptions = { ...INSTALLED, program: async () => undefined };

const loadScripted = async () => new ScriptedDriver({ id: "lamp" });

test("closes the driver that it loaded, and loads none to close it", async () => {
  const calls: string[] = [];
  const load = async () => {
    calls.push("load");
    return Object.assign(await loadScripted(), { close: async () => void calls.push("close") });
  };
  await new LazyDriver(LAMP, INSTALLED, load).close();
  expect(calls).toEqual([]);
  const used = new LazyDriver(LAMP, INSTALLED, load);
  await used.models();
  await used.close();
  expect(calls).toEqual(["load", "close"]);
});

test("can be closed if its driver cannot be loaded, or has nothing to close", async () => {
  const broken = new LazyDriver(LAMP, MISSING, () => Promise.reject(new Error("no lamp")));
  await expect(broken.defaultModel()).rejects.toThrow("no lamp");
  await broken.close();
  const plain = new LazyDriver(LAMP, MISSING, loadScripted);
  await plain.defaultModel();
  await plain.close();
});

test("answers from the descriptor before the driver is loaded", () => {
  const load = () => Promise.reject(new Error("loaded"));
  const driver = new LazyDriver({ ...LAMP, stopsWhenIdle: false }, INSTALLED, load);
  const { id, asksToWrite, stopsWhenIdle } = driver;
  expect({ id, asksToWrite, stopsWhenIdle }).toEqual({ id: "lamp", asksToWrite: true, stopsWhenIdle: false });
  expect(["lamp/oil", "lamp/", "lamp", "other/oil"].map((name) => driver.qualify(name))).toEqual([
    "lamp/oil",
    ...[undefined, undefined, undefined],
  ]);
});

test.each([
  ["installed and has credentials", INSTALLED, true, true],
  ["installed and has none", INSTALLED, false, false],
  ["not installed", MISSING, true, false],
])("whether an agent that is %s is preferred: %s", async (_name, options, hasAccess, isPreferred) => {
  const driver = new LazyDriver(LAMP, { ...options, hasAccess: async () => hasAccess }, loadScripted);
  expect(await driver.isPreferred()).toBe(isPreferred);
});

test("offers no models if the agent is not installed", async () => {
  expect(await new LazyDriver(LAMP, MISSING, loadScripted).models()).toEqual([]);
});

test("what keeps an agent from working is known without starting it: its program or a login is missing", async () => {
  const credentials = { variables: ["LAMP_KEY"], files: [] };
  const lamp = { ...LAMP, credentials, login: { command: "lamp login", hint: "lamp login" } };
  const problemOf = (descriptor: typeof LAMP, options: typeof INSTALLED) =>
    new LazyDriver(descriptor, options, () => Promise.reject(new Error("loaded"))).setupProblem("/code");
  expect(await problemOf(lamp, MISSING)).toMatchObject({
    kind: "missing",
    message: expect.stringContaining("not found"),
  });
  const without = { ...INSTALLED, hasAccess: async () => false };
  expect(await problemOf(lamp, without)).toMatchObject({ kind: "login" });
  expect(await problemOf(lamp, { ...INSTALLED, hasAccess: async () => true })).toBeUndefined();
  expect(await problemOf(lamp, { ...without, offlineModel: async () => "x" })).toBeUndefined();
  // One of which no credentials are known says so itself.
  expect(await problemOf({ ...lamp, credentials: { variables: [], files: [] } }, without)).toBeUndefined();
});
