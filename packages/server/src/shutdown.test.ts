import { Gate } from "@flint/testkit";
import { expect, test } from "vitest";
import { type Clients, endServer } from "./shutdown.ts";

/** Clients that write down what is done with them. */
function clients(steps: string[], idle: () => Promise<void> = async () => undefined): Clients {
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

test("newcomers are kept out first, then all is answered, stopped and told, in this order", async () => {
  const steps: string[] = [];
  const engine = { close: async () => void steps.push("stop turns") };
  await endServer(engine, [clients(steps)]);
  expect(steps).toEqual(["withdraw", "idle", "stop turns", "idle", "close"]);
});

test("a request that waits for the end of a turn does not keep the turn from being stopped", async () => {
  const steps: string[] = [];
  const turnEnds = new Gate();
  const engine = { close: async () => turnEnds.open() };
  await endServer(engine, [clients(steps, () => turnEnds.opened)], { wholeMs: 20_000, answersMs: 1 });
  expect(steps).toEqual(["withdraw", "idle", "idle", "close"]);
});

test("an end that does not come to an end is given up", async () => {
  const engine = { close: () => new Promise<void>(() => {}) };
  await endServer(engine, [clients([])], { wholeMs: 1, answersMs: 1 });
});
