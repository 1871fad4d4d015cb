import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { codexFixture, run } from "./testing/codex-fixture.ts";

const real = needs("codex");

real("a copy of a thread is told only what it does not know", async () => {
  const { open, settings, model } = await codexFixture();
  const first = await run(await open(), { text: "hello", settings });
  const nativeId = first.turn.events.find((event) => event.type === "session")?.nativeId ?? "";
  const account = async () => "the lamp was mended";
  const fork = await open({
    forkOf: { nativeId, handoffSummary: account },
    handoffSummary: async () => "everything at once",
  });
  await run(fork, { text: "what did I ask you?", settings });
  const asked = JSON.stringify(model.requests.at(-1)?.body);
  expect(["hello", "the lamp was mended"].map((words) => asked.includes(words))).toEqual([true, true]);
  expect(asked).not.toContain("everything at once");
});

real(
  "where there is none to copy, or no such place in it, everything is told in words, and why",
  async () => {
    const { open, settings, model } = await codexFixture();
    const first = await run(await open(), { text: "about a lantern", settings });
    const nowhere = "00000000-0000-7000-8000-000000000000";
    const nativeId = first.turn.events.find((event) => event.type === "session")?.nativeId ?? "";
    const message = expect.stringContaining("summary of the thread");
    for (const lost of [{ nativeId: nowhere }, { nativeId, position: nowhere }]) {
      const forkOf = { ...lost, handoffSummary: async () => "" };
      const session = await open({ forkOf, handoffSummary: async () => "the lamp was mended" });
      const { turn, outcome } = await run(session, { text: "hello", settings });
      expect(outcome).toEqual({ status: "completed" });
      const asked = JSON.stringify(model.requests.at(-1)?.body);
      expect(["the lamp was mended", "about a lantern"].map((words) => asked.includes(words))).toEqual([
        true,
        false,
      ]);
      expect(turn.events).toContainEqual({
        type: "extension",
        method: "codex/forkFailed",
        params: { message },
      });
    }
  },
);
