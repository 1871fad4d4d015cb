import { Gate } from "@flint/testkit";
import { expect, test } from "vitest";
import { type ServedClients, stopServer } from "./shutdown.ts";

/** Clients that record what is done with them. */
function clients(steps: string[], idle: () => Promise<void> = async () => undefined): ServedClients {
  return {
    async withdraw() {
      steps.push("withdraw");
    },
    async idle() {
      await idle();
      steps.push("idle");
    },
    async close() {
      steps.push("close");
    },
  };
}

test("stops accepting clients, answers requests, stops turns and notifies clients, in this order", async () => {
  const steps: string[] = [];
  const engine = { close: async () => void steps.push("stop turns") };
  await stopServer(engine, [clients(steps)]);
  expect(steps).toEqual(["withdraw", "idle", "stop turns", "idle", "close"]);
});

test("a request that waits for a turn does not keep the turn from being stopped", async () => {
  const steps: string[] = [];
  const turnEnds = new Gate();
  const engine = { close: async () => turnEnds.open() };
  await stopServer(engine, [clients(steps, () => turnEnds.opened)], { totalMs: 20_000, responsesMs: 1 });
  expect(steps).toEqual(["withdraw", "idle", "idle", "close"]);
});

test("gives up a shutdown that does not finish", async () => {
  const engine = { close: () => new Promise<void>(() => {}) };
  await stopServer(engine, [clients([])], { totalMs: 1, responsesMs: 1 });
});
