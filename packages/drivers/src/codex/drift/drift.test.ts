import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DriverEvent } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { agentProgram, needs, RecordingTurn, type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { FakeCodex } from "../testing/fake-codex.ts";
import { fakeSession, SETTINGS } from "../testing/fake-session.ts";
import { compareWords } from "./compare.ts";
import { codexDrift, printingIn } from "./drift.ts";

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

const SANDBOX = new CommandSandbox({ environment: process.env });

needs("codex")("the Codex that Flint was made for has every word that Flint speaks", async () => {
  expect(await codexDrift([agentProgram("codex") ?? "codex"], printingIn(SANDBOX))).toEqual([]);
});

needs("codex")("a Codex that prints other words is told by each of them", async () => {
  const codex = await alteredCodex(await temporaryFolder(), agentProgram("codex") ?? "codex");
  expect(await codexDrift([codex], printingIn(SANDBOX))).toEqual([
    "The request thread/start has no field developerInstructions any more.",
    "The request turn/steer is gone.",
    "The notification turn/completed is gone.",
  ]);
});

test("a program that cannot print its words says so", async () => {
  const failed = codexDrift(["false"], printingIn(SANDBOX));
  await expect(failed).rejects.toThrow(/did not print its protocol \(exit code 1\)/);
});

test("a Codex of another version is told of once when it is first used, with each word that changed", async () => {
  const fake = new FakeCodex();
  fake.answers.set("initialize", { userAgent: "flint/0.999.0 (test)" });
  fake.launch = async ({ command }) => {
    const folder = command.at(-1) ?? "";
    for (const name of ["ClientRequest", "ServerRequest", "ServerNotification"])
      await writeFile(join(folder, `${name}.json`), "{}");
    return { exitCode: 0, durationMs: 1, ended: "exited" };
  };
  const { opened } = await fakeSession(fake, onTestFinished);
  const told: DriverEvent[] = [];
  for (const text of ["one", "two"]) {
    const turn = new RecordingTurn({ text, settings: SETTINGS });
    const outcome = opened.run(turn);
    await fake.told(({ method, params }) => method === "turn/start" && JSON.stringify(params).includes(text));
    fake.endTurn();
    await outcome;
    told.push(...turn.events.filter(({ type }) => type === "extension"));
  }
  expect(told).toEqual([
    {
      ...{ type: "extension", method: "codex/drift" },
      params: {
        version: "0.999.0",
        changes: expect.arrayContaining([
          "Codex is 0.999.0; Flint was made for 0.166.0.",
          "The request turn/start is gone.",
          "The notification turn/completed is gone.",
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
