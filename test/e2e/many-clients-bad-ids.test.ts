import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { acpFrontend } from "@flint/frontends/acp";
import { codexFrontend } from "@flint/frontends/codex";
import { flintFrontend } from "@flint/frontends/flint";
import { harnessFrontend } from "@flint/frontends/harness";
import type { RequestRow, Vocabulary } from "@flint/protocol";
import { composeEngine } from "@flint/server";
import { scriptedDriver, TestClock, temporaryFolder, WireError } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod/mini";
import { type Fields, fields } from "../../packages/frontends/src/testing/client-scripts.ts";
import type { FrontendName } from "../../packages/server/src/frontends.ts";
import { OpenServer } from "../../packages/server/src/serve/testing/open-server.ts";
import { TestUser } from "./clients/many-clients.ts";

const VOCABULARIES: readonly (readonly [FrontendName, Vocabulary])[] = [
  ["flint", flintFrontend().vocabulary],
  ["harness", harnessFrontend().vocabulary],
  ["codex", codexFrontend().vocabulary],
  ["acp", acpFrontend().vocabulary],
];

/** The members of a request that name a thread. */
const NAMES = ["threadId", "sessionId", "requestId"];

/** Ids that would lead to an existing thread if they were used as a path. */
function pathsTo(threadId: string): string[] {
  return [
    `../threads/${threadId}`,
    `./${threadId}`,
    `${threadId}/`,
    `${threadId}/../${threadId}`,
    `${threadId}\0`,
    `${threadId}\0.json`,
    `%2e%2e/threads/${threadId}`,
    `..\\threads\\${threadId}`,
    "..",
    "../../../../etc/passwd",
    "",
  ];
}

/** Values that the shape of a schema does not express. */
const SAMPLES: Fields = {
  prompt: [{ type: "text", text: "hello" }],
  value: "high",
  target: { type: "uncommittedChanges" },
};

/** A value that the shape of a schema accepts. */
function sample(schema: unknown): unknown {
  const { type, enum: values, const: value, anyOf, properties, required } = fields(schema);
  if (value !== undefined) return value;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return sample(anyOf[0]);
  switch (type) {
    case "string":
      return "/tmp";
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return false;
    case "array":
      return [];
    default:
      return sampleOf(fields(properties), Array.isArray(required) ? required : []);
  }
}

function sampleOf(properties: Fields, required: readonly unknown[]): Fields {
  const names = Object.keys(properties).filter((name) => required.includes(name));
  return Object.fromEntries(names.map((name) => [name, SAMPLES[name] ?? sample(properties[name])]));
}

/**
 * Returns the params of a request that names a thread, and the member that names it; undefined if it names
 * none.
 */
function naming({ params }: RequestRow): { readonly name: string; readonly params: Fields } | undefined {
  const schema = fields(z.toJSONSchema(params, { io: "input", unrepresentable: "any" }));
  const name = NAMES.find((known) => Object.hasOwn(fields(schema.properties), known));
  return name === undefined ? undefined : { name, params: fields(sample(schema)) };
}

const INTERNAL_ERROR = -32603;

/** The outcome of a request. An internal error does not count as a rejection. */
async function outcomeOf(answer: Promise<Fields>): Promise<string> {
  try {
    return `taken: ${JSON.stringify(await answer)}`;
  } catch (error) {
    // Expected: it is refused.
    if (!(error instanceof WireError) || error.code === INTERNAL_ERROR) return String(error);
    return "refused";
  }
}

test.each(VOCABULARIES)("%s: rejects a thread id that could be a path", async (frontend, words) => {
  const { path: folder } = await temporaryFolder();
  const root = join(folder, "state");
  const engine = composeEngine({ root, cwd: folder, drivers: [scriptedDriver()], durability: "relaxed" });
  onTestFinished(() => engine.close());
  const kit = { engine, folder, clock: new TestClock(), atEnd: onTestFinished };
  const server = await OpenServer.start(kit);
  const owner = await TestUser.at("flint", server, folder);
  const threadId = await owner.startThread();
  await owner.prompt(threadId, "keep me");
  await owner.wire.waitForMethod("turn/completed");
  const user = await TestUser.at(frontend, server, folder);
  const before = await readdir(join(root, "threads"));
  const wrong: string[] = [];
  let asked = 0;
  for (const [method, row] of Object.entries(words.requests)) {
    const request = naming(row);
    if (request === undefined) continue;
    asked += 1;
    for (const id of pathsTo(threadId)) {
      const outcome = await outcomeOf(user.ask([method, { ...request.params, [request.name]: id }]));
      if (outcome !== "refused") wrong.push(`${method} ${JSON.stringify(id)}: ${outcome}`);
    }
  }
  expect(asked).toBeGreaterThan(2);
  expect(wrong).toEqual([]);
  expect(await readdir(join(root, "threads"))).toEqual(before);
  await expect(owner.ask(["thread/read", { threadId: `../threads/${threadId}` }])).rejects.toThrow(WireError);
  const { thread } = await owner.ask(["thread/read", { threadId }]);
  expect(thread).toMatchObject({ id: threadId, preview: "keep me" });
});
