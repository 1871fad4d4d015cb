import { ScriptedDriver } from "@flint/testkit";
import { expect, test } from "vitest";
import { AgentOnDemand } from "./agent-on-demand.ts";

test("the end of an agent that was used ends what is behind it, and one that never was is not even loaded", async () => {
  const happened: string[] = [];
  const load = async () => {
    happened.push("loaded");
    const driver = new ScriptedDriver({ id: "lamp" });
    return Object.assign(driver, { close: async () => void happened.push("closed") });
  };
  const options = { program: async () => ({ command: ["lamp"], environment: {} }), version: "0.0.0" };
  const make = () => new AgentOnDemand({ id: "lamp", options, asksToWrite: true, load });
  await make().close();
  expect(happened).toEqual([]);
  const used = make();
  await used.models();
  await used.close();
  expect(happened).toEqual(["loaded", "closed"]);
});

test("an agent that cannot be loaded, or has nothing to end, can be ended", async () => {
  const options = { program: async () => undefined, version: "0.0.0" };
  const broken = new AgentOnDemand({
    ...{ id: "lamp", options, asksToWrite: true },
    load: () => Promise.reject(new Error("no lamp")),
  });
  await expect(broken.defaultModel()).rejects.toThrow("no lamp");
  await broken.close();
  const load = async () => new ScriptedDriver({ id: "lamp" });
  const plain = new AgentOnDemand({ id: "lamp", options, asksToWrite: true, load });
  await plain.defaultModel();
  await plain.close();
});
