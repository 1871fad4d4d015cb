import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DriverEvent } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { agentProgram, needs, RecordingTurn, type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { codexDrift, compareSchemas, runInSandbox } from "./drift.ts";
import { FakeCodex, fakeSession, SETTINGS } from "./testing/fake-codex.ts";

/** A schema as Codex prints it, of one message only. */
function printed(method: string, params: object): unknown {
  const properties = { method: { enum: [method] }, params: { $ref: "#/definitions/Params" } };
  return { oneOf: [{ properties }], definitions: { Params: params } };
}

describe("a Codex of another version", () => {
  test("names each method that no longer exists", () => {
    const differences = compareSchemas({ requests: {}, serverRequests: {}, notifications: {} });
    expect(differences).toContain("The request turn/start no longer exists.");
    expect(differences).toContain("The request of Codex item/fileChange/requestApproval no longer exists.");
    expect(differences).toContain("The notification turn/completed no longer exists.");
    expect(differences).toContain("The item commandExecution no longer exists.");
  });

  test("names each field that no longer exists or is newly required", () => {
    const steer = printed("turn/steer", {
      properties: { threadId: {}, input: {}, mood: {} },
      required: ["threadId", "input", "mood"],
    });
    const differences = compareSchemas({ requests: steer, serverRequests: {}, notifications: {} });
    expect(differences.filter((line) => line.includes("turn/steer"))).toEqual([
      "The request turn/steer no longer has the field expectedTurnId.",
      "The request turn/steer requires a field mood that Flint does not send.",
    ]);
  });

  test("may omit an optional field that Flint reads", () => {
    const usage = printed("item/commandExecution/requestApproval", {
      properties: { threadId: {}, turnId: {}, itemId: {} },
    });
    const differences = compareSchemas({ requests: {}, serverRequests: usage, notifications: {} });
    expect(differences.filter((line) => line.includes("commandExecution/requestApproval"))).toEqual([]);
  });
});

const SANDBOX = new CommandSandbox({ environment: process.env });

needs("codex")("the Codex that Flint was made for does not differ", async () => {
  expect(await codexDrift([agentProgram("codex") ?? "codex"], runInSandbox(SANDBOX))).toEqual([]);
});

needs("codex")("describes each difference of a Codex with other schemas", async () => {
  const codex = await alteredCodex(await temporaryFolder(), agentProgram("codex") ?? "codex");
  expect(await codexDrift([codex], runInSandbox(SANDBOX))).toEqual([
    "The request thread/start no longer has the field developerInstructions.",
    "The request turn/steer no longer exists.",
    "The notification turn/completed no longer exists.",
  ]);
});

test("rejects a program that cannot print its schemas", async () => {
  const failed = codexDrift(["false"], runInSandbox(SANDBOX));
  await expect(failed).rejects.toThrow(/did not print its protocol \(exit code 1\)/);
});

test("reports another version of Codex once, with each difference", async () => {
  const fake = new FakeCodex();
  fake.answers.set("initialize", { userAgent: "flint/0.999.0 (test)" });
  fake.launch = async ({ command }) => {
    const folder = command.at(-1) ?? "";
    for (const name of ["ClientRequest", "ServerRequest", "ServerNotification"])
      await writeFile(join(folder, `${name}.json`), "{}");
    return { exitCode: 0, durationMs: 1, ended: "exited" };
  };
  const { opened } = await fakeSession(fake, onTestFinished);
  const reported: DriverEvent[] = [];
  for (const text of ["one", "two"]) {
    const turn = new RecordingTurn({ text, settings: SETTINGS });
    const outcome = opened.run(turn);
    await fake.received(
      ({ method, params }) => method === "turn/start" && JSON.stringify(params).includes(text),
    );
    fake.endTurn();
    await outcome;
    reported.push(...turn.events.filter(({ type }) => type === "extension"));
  }
  expect(reported).toEqual([
    {
      ...{ type: "extension", method: "openai/drift" },
      params: {
        version: "0.999.0",
        changes: expect.arrayContaining([
          "Codex is 0.999.0; Flint was made for 0.166.0.",
          "The request turn/start no longer exists.",
          "The notification turn/completed no longer exists.",
        ]),
      },
    },
  ]);
});

/** A program that prints what the real one does, with some of it taken away. */
async function alteredCodex({ join: inFolder }: TemporaryFolder, codex: string): Promise<string> {
  const path = inFolder("codex");
  // Printed beforehand: from where the stand-in runs, the real one may be out of sight.
  const print = ["app-server", "generate-json-schema", "--experimental", "--out", inFolder("printed")];
  await mkdir(inFolder("home"));
  await promisify(execFile)(codex, print, { env: { ...process.env, CODEX_HOME: inFolder("home") } });
  const script = `#!${process.execPath}
const { cpSync, readFileSync, writeFileSync } = require("node:fs");
const folder = process.argv.at(-1);
cpSync(__dirname + "/printed", folder, { recursive: true });
const alter = (name, change) => {
  const schema = JSON.parse(readFileSync(folder + "/" + name + ".json", "utf8"));
  change(schema);
  writeFileSync(folder + "/" + name + ".json", JSON.stringify(schema));
};
const without = (schema, method) => {
  schema.oneOf = schema.oneOf.filter((entry) => entry.properties.method.enum[0] !== method);
};
alter("ClientRequest", (schema) => {
  without(schema, "turn/steer");
  delete schema.definitions.ThreadStartParams.properties.developerInstructions;
});
alter("ServerNotification", (schema) => without(schema, "turn/completed"));
`;
  await writeFile(path, script, { mode: 0o755 });
  return path;
}
