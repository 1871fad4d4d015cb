import type { Check, CheckGroup } from "../check.ts";
import type { TestContext } from "../test-context.ts";
import { Failed, formatValue, stringAt } from "../wire/pattern.ts";
import { errorOf, type Wire } from "../wire/wire.ts";
import { CodexThread, codexWire, input, UNKNOWN_METHOD } from "./client.ts";

const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";

/** Every method with a thread id, what else it needs, and the error for a UUID without a thread. */
const THREAD_METHODS: Readonly<Record<string, { readonly more?: object; readonly unknown: RegExp }>> = {
  "thread/read": { unknown: /^thread not loaded: / },
  "thread/resume": { unknown: /^no rollout found for thread id / },
  "thread/fork": { unknown: /^no rollout found for thread id / },
  "thread/archive": { unknown: /^no rollout found for thread id / },
  "thread/unarchive": { unknown: /^no archived rollout found for thread id / },
  "thread/delete": { unknown: /^no rollout found for thread id / },
  "thread/name/set": { more: { name: "x" }, unknown: /^no rollout found for thread id / },
  "thread/compact/start": { unknown: /^thread not found: / },
  "thread/turns/list": { unknown: /^thread not loaded: / },
  "thread/goal/get": { unknown: /^thread not found: / },
  "thread/revert": { more: { beforeTurnId: "x" }, unknown: /^thread not found: / },
  "review/start": { more: { target: { type: "uncommittedChanges" } }, unknown: /^thread not found: / },
  "turn/start": { more: { input: [] }, unknown: /^thread not found: / },
  "turn/steer": { more: { expectedTurnId: "x", input: [] }, unknown: /^thread not found: / },
  "turn/interrupt": { more: { turnId: "x" }, unknown: /^thread not found: / },
};

/** Requests that are refused, and how. */
const REFUSED: readonly (readonly [name: string, method: string, params: unknown, message: RegExp])[] = [
  [
    "a request without params says that the field params is missing",
    "thread/read",
    undefined,
    /^Invalid request: missing field `params`$/,
  ],
  ["params of null count as missing", "thread/read", null, /^Invalid request: missing field `params`$/],
  [
    "params that are a list are refused",
    "thread/read",
    [],
    /^Invalid request: invalid length 0, expected struct \w+/,
  ],
  [
    "params that are a string are refused",
    "thread/read",
    "x",
    /^Invalid request: invalid type: string "x", expected struct \w+/,
  ],
  [
    "a required field that is missing is named",
    "thread/read",
    {},
    /^Invalid request: missing field `threadId`$/,
  ],
  [
    "a negative number is not a valid list limit",
    "thread/list",
    { limit: -1 },
    /^Invalid request: invalid value: integer `-1`, expected u32$/,
  ],
  [
    "a string is not a valid list limit",
    "model/list",
    { limit: "x" },
    /^Invalid request: invalid type: string "x", expected u32$/,
  ],
  [
    "a cursor that the server did not give is refused",
    "thread/list",
    { cursor: "zzz" },
    /^invalid cursor: zzz$/,
  ],
  [
    "an approval policy that does not exist is refused by name",
    "thread/start",
    { approvalPolicy: "sometimes" },
    /^Invalid request: unknown variant `sometimes`, expected one of `untrusted`/,
  ],
  [
    "a sandbox that does not exist is refused by name",
    "thread/start",
    { sandbox: "cardboard" },
    /^Invalid request: unknown variant `cardboard`, expected one of `read-only`/,
  ],
];

/** Lines that are not messages. Codex logs them and does not answer. */
const NOT_MESSAGES: Readonly<Record<string, string>> = {
  "text that is not JSON": "not json",
  "an object that is neither request, answer nor notification": '{"id":5}',
  "an empty list": "[]",
  "a batch": '[{"id":1,"method":"thread/loaded/list","params":{}}]',
  "a request whose id is an object": '{"id":{"a":1},"method":"thread/loaded/list","params":{}}',
  "a request whose id is null": '{"id":null,"method":"thread/loaded/list","params":{}}',
  "a request whose id is true": '{"id":true,"method":"thread/loaded/list","params":{}}',
  "a request whose id is a fraction": '{"id":1.5,"method":"thread/loaded/list","params":{}}',
  "a request whose method is a number": '{"id":78,"method":42}',
  "a response to a request that was never sent": '{"id":77,"result":{}}',
  "a notification with an unknown method": '{"method":"no/such/notification","params":{}}',
};

/** Checks that a server answers malformed input, and that it continues afterwards. */
export const MALFORMED: CheckGroup = {
  about: "Bad input",
  checks: [
    {
      name: "an unknown method is refused with -32600 “Invalid request: unknown variant”, which names the known ones",
      run: async (trial) => {
        const wire = await codexWire(trial);
        const message = /^Invalid request: unknown variant `no\/such\/method`, expected one of `initialize`/;
        await wire.expectError("no/such/method", {}, { ...UNKNOWN_METHOD, message });
      },
    },
    ...REFUSED.map(refused),
    {
      name: "an input of an unknown type is refused by name",
      run: async (trial) => {
        const thread = await CodexThread.start(trial, await codexWire(trial));
        const message = /^Invalid request: unknown variant `nope`, expected one of `text`/;
        await thread.wire.expectError(
          "turn/start",
          { threadId: thread.id, input: [{ type: "nope" }] },
          { code: -32600, message },
        );
      },
    },
    noUuid("a thread id that is not a UUID", "nope", /^invalid (thread|session) id: /),
    noUuid("a thread id with ../ in it", "../../etc/passwd", /^invalid (thread|session) id: /),
    noUuid("a thread id with a null byte", "a\0b", /^invalid (thread|session) id: /),
    noUuid("an empty thread id", "", /^invalid (thread|session) id: /),
    noUuid("a thread id of 5000 characters", "x".repeat(5000), /^invalid (thread|session) id: /),
    noUuid(
      "a thread id that is a number",
      7,
      /^Invalid request: invalid type: integer `7`, expected a string$/,
    ),
    noUuid("a thread id that is null", null, /^Invalid request: invalid type: null, expected a string$/),
    {
      name: "an unknown thread id is refused by every method with its own message",
      run: (trial) => everyMethod(trial, UNKNOWN_ID, undefined),
    },
    {
      name: "unsubscribing from an unknown thread answers notLoaded",
      run: async (trial) => {
        const wire = await codexWire(trial);
        const { status } = await wire.result("thread/unsubscribe", { threadId: UNKNOWN_ID });
        if (status !== "notLoaded") throw new Failed(`status is ${formatValue(status)}`);
      },
    },
    ...Object.entries(NOT_MESSAGES).map(silence),
    {
      name: "a turn of 200,000 characters is accepted",
      run: async (trial) => {
        const thread = await CodexThread.start(trial, await codexWire(trial));
        const params = { threadId: thread.id, input: input(`Say hello. ${"x ".repeat(100_000)}`) };
        const answer = await thread.wire.result("turn/start", params);
        await thread.ended(stringAt(answer, "turn", "id"));
      },
    },
  ],
};

function refused([name, method, params, message]: (typeof REFUSED)[number]): Check {
  return {
    name,
    run: async (trial) => {
      const wire = await codexWire(trial);
      await wire.expectError(method, params, { code: -32600, message });
    },
  };
}

function noUuid(what: string, threadId: unknown, message: RegExp): Check {
  return {
    name: `${what} is refused by every method`,
    run: (trial) => everyMethod(trial, threadId, message),
  };
}

async function everyMethod(
  trial: TestContext,
  threadId: unknown,
  message: RegExp | undefined,
): Promise<void> {
  const wire = await codexWire(trial);
  for (const [method, { more, unknown }] of Object.entries(THREAD_METHODS)) {
    const answer = await wire.ask(method, { threadId, ...more });
    errorOf(method, answer, { code: -32600, message: message ?? unknown });
  }
}

function silence([what, text]: readonly [string, string]): Check {
  return {
    name: `${what} gets no response and has no effect`,
    run: async (trial) => {
      const wire = await codexWire(trial);
      const after = wire.mark;
      wire.sendText(text);
      await stillThere(wire, after);
    },
  };
}

/** The next thing that comes is the answer to the next request, and no word about what was before. */
async function stillThere(wire: Wire, after: number): Promise<void> {
  await wire.result("model/list", {});
  const answers = wire.since(after).filter((message) => !("method" in message));
  if (answers.length !== 1) throw new Failed(`it was answered with ${formatValue(answers[0])}`);
}
