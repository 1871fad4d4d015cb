import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { codexFixture, run } from "./testing/codex-fixture.ts";

const real = needs("codex");

real("sends a forked thread only what the copy lacks", async () => {
  const { open, settings, model } = await codexFixture();
  const first = await run(await open(), { text: "hello", settings });
  const nativeId = first.turn.events.find((event) => event.type === "session")?.nativeId ?? "";
  const handoffSummary = async () => "the lamp was repaired";
  const fork = await open({
    forkOf: { nativeId, handoffSummary: handoffSummary },
    handoffSummary: async () => "everything at once",
  });
  await run(fork, { text: "what did I ask you?", settings });
  const asked = JSON.stringify(model.requests.at(-1)?.body);
  expect(["hello", "the lamp was repaired"].map((text) => asked.includes(text))).toEqual([true, true]);
  expect(asked).not.toContain("everything at once");
});

real("sends a summary and reports why if the thread or the position does not exist", async () => {
  const { open, settings, model } = await codexFixture();
  const first = await run(await open(), { text: "about a lantern", settings });
  const nowhere = "00000000-0000-7000-8000-000000000000";
  const nativeId = first.turn.events.find((event) => event.type === "session")?.nativeId ?? "";
  const message = expect.stringContaining("summary of the thread");
  for (const lost of [{ nativeId: nowhere }, { nativeId, position: nowhere }]) {
    const forkOf = { ...lost, handoffSummary: async () => "" };
    const session = await open({ forkOf, handoffSummary: async () => "the lamp was repaired" });
    const { turn, outcome } = await run(session, { text: "hello", settings });
    expect(outcome).toEqual({ status: "completed" });
    const asked = JSON.stringify(model.requests.at(-1)?.body);
    expect(["the lamp was repaired", "about a lantern"].map((text) => asked.includes(text))).toEqual([
      true,
      false,
    ]);
    expect(turn.events).toContainEqual({
      type: "extension",
      method: "openai/forkFailed",
      params: { message },
    });
  }
});
