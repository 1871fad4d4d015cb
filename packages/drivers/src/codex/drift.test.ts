import { CommandSandbox } from "@flint/core/sandbox";
import { agentProgram, needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { codexDrift } from "./drift.ts";
import { compareWords } from "./drift-report.ts";

/** A schema as Codex prints it, of one message only. */
function printed(method: string, params: object): unknown {
  const properties = { method: { enum: [method] }, params: { $ref: "#/definitions/Params" } };
  return { oneOf: [{ properties }], definitions: { Params: params } };
}

describe("a Codex of another version", () => {
  test("each method that is gone is named", () => {
    const said = compareWords({ requests: {}, serverRequests: {}, notifications: {} });
    expect(said).toContain("The request turn/start is gone.");
    expect(said).toContain("The request of Codex item/fileChange/requestApproval is gone.");
    expect(said).toContain("The notification turn/completed is gone.");
    expect(said).toContain("The item commandExecution is gone.");
  });

  test("each field that is gone, or newly wanted, is named", () => {
    const steer = printed("turn/steer", {
      properties: { threadId: {}, input: {}, mood: {} },
      required: ["threadId", "input", "mood"],
    });
    const said = compareWords({ requests: steer, serverRequests: {}, notifications: {} });
    expect(said.filter((line) => line.includes("turn/steer"))).toEqual([
      "The request turn/steer has no field expectedTurnId any more.",
      "The request turn/steer wants a field mood that Flint does not send.",
    ]);
  });

  test("a field that is only read where it is there may be missing", () => {
    const usage = printed("item/commandExecution/requestApproval", {
      properties: { threadId: {}, turnId: {}, itemId: {} },
    });
    const said = compareWords({ requests: {}, serverRequests: usage, notifications: {} });
    expect(said.filter((line) => line.includes("commandExecution/requestApproval"))).toEqual([]);
  });
});

needs("codex")("the Codex that Flint was made for has every word that Flint speaks", async () => {
  const program = { command: [agentProgram("codex") ?? "codex"], environment: {} };
  expect(await codexDrift(program, new CommandSandbox({ environment: process.env }))).toEqual([]);
});

test("a program that cannot print its words says so", async () => {
  const program = { command: ["false"], environment: {} };
  const failed = codexDrift(program, new CommandSandbox({ environment: process.env }));
  await expect(failed).rejects.toThrow(/did not print its protocol \(exit code 1\)/);
});
