import type { DriverSession } from "@flint/core/ports";
import { CommandSandbox } from "@flint/core/sandbox";
import {
  agentProgram,
  leavesNoProcess,
  needs,
  RecordingTurn,
  type RecordingTurnOptions,
} from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { codexBench, runTurn } from "./testing/codex-bench.ts";

const real = needs("codex");

real("a copy of a thread is told only what it does not know", async () => {
  const { open, settings, model } = await settingUp();
  const first = await run(await open(), { text: "hello", settings });
  const nativeId = first.turn.events.find((event) => event.type === "session")?.nativeId ?? "";
  const account = async () => "the lamp was mended";
  const fork = await open({ forkOf: { nativeId, account }, account: async () => "everything at once" });
  await run(fork, { text: "what did I ask you?", settings });
  const asked = JSON.stringify(model.requests.at(-1)?.body);
  expect(["hello", "the lamp was mended"].map((words) => asked.includes(words))).toEqual([true, true]);
  expect(asked).not.toContain("everything at once");
});

real("where there is none to copy, everything is told in words, and why", async () => {
  const { open, settings, model } = await settingUp();
  const nativeId = "00000000-0000-7000-8000-000000000000";
  const forkOf = { nativeId, account: async () => "" };
  const { turn, outcome } = await run(await open({ forkOf, account: async () => "the lamp was mended" }), {
    text: "hello",
    settings,
  });
  expect(outcome).toEqual({ status: "completed" });
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("the lamp was mended");
  expect(turn.events).toContainEqual({
    type: "extension",
    method: "codex/forkFailed",
    params: { message: expect.stringContaining("told what happened in words") },
  });
});

function settingUp() {
  leavesNoProcess();
  const sandbox = new CommandSandbox({ environment: process.env });
  return codexBench({ program: agentProgram("codex"), sandbox, atEnd: onTestFinished });
}

function run(session: DriverSession, options: RecordingTurnOptions) {
  return runTurn(session, new RecordingTurn(options));
}
