import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { runSuite } from "../check.ts";
import { TestContext } from "../test-context.ts";
import { SmallServer } from "../testing/small-server.ts";
import { schemaChecks } from "./schemas.ts";

const TEXT = { type: "string" };
const method = (name: string, params: object) => ({
  type: "object",
  properties: { method: { enum: [name] }, params },
  required: ["method", "params"],
});

/** Schemas of a protocol with one request and one notification. */
async function schemas(): Promise<string> {
  const { path } = await temporaryFolder();
  await mkdir(join(path, "v2"));
  const write = (name: string, schema: object) =>
    writeFile(join(path, `${name}.json`), JSON.stringify(schema));
  await write("ClientRequest", {
    oneOf: [method("thread/start", { $ref: "#/definitions/ThreadStartParams" })],
  });
  await write("v2/ThreadStartResponse", { type: "object", properties: { id: TEXT }, required: ["id"] });
  const received = {
    type: "object",
    properties: { name: { $ref: "#/definitions/Name" } },
    required: ["name"],
  };
  await write("ServerNotification", { oneOf: [method("event", received)], definitions: { Name: TEXT } });
  return path;
}

async function outcomeOf(result: object, notification: object) {
  const server = new SmallServer((line) => [notification, { id: line?.id, result }]);
  const trial = new TestContext({ target: server, cwd: "/nowhere", header: false, timeoutMs: 5_000 });
  const start = {
    name: "a thread",
    run: async () => void (await (await trial.fresh()).result("thread/start", {})),
  };
  const groups = [{ about: "Threads", checks: [start] }, await schemaChecks(await schemas())];
  const findings = await runSuite({ groups }, trial, () => {});
  return findings.at(-1);
}

describe("messages and their schemas", () => {
  test("fit if they are as the schemas say", async () => {
    const finding = await outcomeOf({ id: "x" }, { method: "event", params: { name: "n" } });
    expect(finding).toMatchObject({ outcome: "passed" });
  });

  test("are named with the place that does not fit", async () => {
    const finding = await outcomeOf({ id: 7 }, { method: "event", params: { name: 5 } });
    expect(finding).toMatchObject({
      outcome: "failed",
      reason: "event: /params/name must be string\nthe answer of thread/start: /id must be string",
    });
  });

  test("a notification that no schema knows is a fault", async () => {
    const finding = await outcomeOf({ id: "x" }, { method: "whispered", params: {} });
    expect(finding).toMatchObject({ outcome: "failed", reason: expect.stringContaining("whispered: ") });
  });

  test("a folder without schemas says how to make them", async () => {
    const { path } = await temporaryFolder();
    await expect(schemaChecks(path)).rejects.toThrow("codex app-server generate-json-schema");
  });
});
