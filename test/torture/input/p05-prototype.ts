import assert from "node:assert/strict";
import type { TortureCase } from "../case.ts";
import { FITTING_PARAMS, METHOD_NAMES } from "../every-method.ts";
import { count, milliseconds } from "../figures.ts";
import type { TortureServer } from "../server.ts";

// If one of these reached the prototype of all objects, a request without params would act as if it had them.
const POISON =
  '{"threadId":"poisoned","limit":1,"cursor":"poisoned","searchTerm":"poisoned","archived":true}';
const HOSTILE_KEYS = [
  `"__proto__":${POISON}`,
  `"\\u005f_proto__":${POISON}`,
  `"constructor":{"prototype":${POISON}}`,
  '"toJSON":"x"',
  '"then":{"then":1}',
  '"hasOwnProperty":1',
].join(",");
const MANY_KEYS = 1_000_000;
const MANY_LEVELS = 100_000;

/** Puts keys with a meaning in JavaScript into every object of the params of every method. */
export const prototypeKeys: TortureCase = {
  id: "P05",
  title: "prototype keys have no effect; extreme nesting and key counts are refused",
  async run(context) {
    const server = await context.start({ kind: "scripted" });
    const threadId = await server.startThread({ name: "a thread to be listed" });
    for (const method of METHOD_NAMES) {
      const params = poisoned(JSON.stringify(FITTING_PARAMS[method]));
      await answerTo(server, `"${method}"`, method, params);
      await expectUnpoisoned(server, threadId);
    }
    const levels = `${'{"a":'.repeat(MANY_LEVELS)}1${"}".repeat(MANY_LEVELS)}`;
    const nestedMs = await expectRefused(server, "nested", levels);
    const keys = Array.from({ length: MANY_KEYS }, (_, place) => `"k${place}":0`).join(",");
    const keysMs = await expectRefused(server, "keys", `{${keys}}`);
    await server.expectAlive(context.patience);
    return [
      count("methods", METHOD_NAMES.length),
      milliseconds("100k levels refused in", nestedMs, 1_000),
      milliseconds("1M keys refused in", keysMs, 1_000),
    ];
  },
};

/** The JSON with the hostile keys at the start of every object in it. */
function poisoned(json: string): string {
  return json.replaceAll(/\{(\}?)/g, (_, end: string) => `{${HOSTILE_KEYS}${end === "" ? "," : "}"}`);
}

async function answerTo(server: TortureServer, id: string, method: string, params: string): Promise<object> {
  const after = server.wire.mark;
  await server.wire.sendRaw(`{"id":${id},"method":"${method}","params":${params}}\n`);
  const requested: unknown = JSON.parse(id);
  return server.wire.waitFor((message) => message.id === requested && !("method" in message), { after });
}

async function expectUnpoisoned(server: TortureServer, threadId: string): Promise<void> {
  const { data } = await server.call("model/list", {});
  assert(data.length > 1, "model/list without a limit gives all models");
  await server.call("config/list", {});
  const threads = (await server.call("thread/list", {})).data;
  assert(
    threads.some((thread) => thread.id === threadId),
    "thread/list without params gives the thread",
  );
}

async function expectRefused(server: TortureServer, id: string, params: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await answerTo(server, `"${id}"`, "model/list", params);
  assert("error" in answer, `${id} must be refused`);
  return performance.now() - startedAt;
}
