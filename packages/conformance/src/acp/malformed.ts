import type { Check, CheckGroup } from "../check.ts";
import { anyOf, expectFit, Failed, formatValue, NUMBER, STRING } from "../wire/pattern.ts";
import { AcpSession, acpWire, promptOf, requiresCapability } from "./client.ts";

const INVALID_PARAMS = { code: -32602, message: STRING } as const;
/** A session that is not there is a resource that was not found; some agents call it a wrong parameter. */
const NO_SESSION = { code: anyOf(-32002, -32602, -32603), message: STRING } as const;

/** Ids that no session has. The last ones would be paths, if an agent took them for one. */
const NO_SESSIONS = ["nope", "", "../../etc/passwd", "a\0b", "00000000-0000-4000-8000-000000000000"];

/** Methods about a session, what else they need, and what has to be advertised for them. */
const SESSION_METHODS: readonly (readonly [method: string, more: object, ability: readonly string[]])[] = [
  ["session/load", { mcpServers: [] }, ["loadSession"]],
  ["session/resume", { mcpServers: [] }, ["sessionCapabilities", "resume"]],
];

/** Text that is not a message, and the number they are refused with, with an id of null. */
const NOT_MESSAGES: readonly (readonly [what: string, text: string, code: number])[] = [
  ["text that is not JSON", "not json", -32700],
  ["an empty list", "[]", -32600],
  [
    "a request whose id is an object",
    '{"jsonrpc":"2.0","id":{"a":1},"method":"session/list","params":{}}',
    -32600,
  ],
  ["a request whose method is a number", '{"jsonrpc":"2.0","id":70,"method":42}', -32600],
];

/** Checks that an agent answers malformed input, and that it continues afterwards. */
export const MALFORMED: CheckGroup = {
  about: "Bad input",
  checks: [
    {
      name: "an unknown method is refused with -32601",
      run: async (trial) => {
        const wire = await acpWire(trial);
        await wire.expectError("no/such/method", {}, { code: -32601, message: STRING });
        await wire.expectError("_nobody/extension", {}, { code: -32601, message: STRING });
      },
    },
    invalid("session/new without a folder", "session/new", () => ({ mcpServers: [] })),
    invalid("session/new with a folder that is a number", "session/new", () => ({ cwd: 7, mcpServers: [] })),
    invalid("session/new with a relative folder", "session/new", () => ({ cwd: "src", mcpServers: [] })),
    invalid("session/new without mcpServers", "session/new", (cwd) => ({ cwd })),
    invalid("session/new with params that are a string", "session/new", () => "x"),
    invalid("session/prompt with a session id that is a number", "session/prompt", () => ({
      sessionId: 7,
      prompt: promptOf("x"),
    })),
    {
      name: "session/prompt without a prompt, with a text as prompt, or with content of an unknown type is refused with -32602",
      run: async (trial) => {
        const session = await AcpSession.open(trial, await acpWire(trial));
        for (const params of [{}, { prompt: "x" }, { prompt: [{ type: "nope" }] }]) {
          await session.wire.expectError(
            "session/prompt",
            { sessionId: session.id, ...params },
            INVALID_PARAMS,
          );
        }
      },
    },
    {
      name: "session/prompt with an unknown session id is refused, including ids with ../ or a null byte",
      run: async (trial) => {
        const wire = await acpWire(trial);
        for (const sessionId of NO_SESSIONS) {
          await wire.expectError("session/prompt", { sessionId, prompt: promptOf("x") }, NO_SESSION);
        }
      },
    },
    ...SESSION_METHODS.map(
      ([method, more, ability]): Check => ({
        name: `${method} with an unknown session id is refused, including ids with ../ or a null byte`,
        run: async (trial) => {
          const wire = await acpWire(trial);
          requiresCapability(wire, ...ability);
          for (const sessionId of NO_SESSIONS) {
            await wire.expectError(method, { sessionId, cwd: trial.cwd, ...more }, NO_SESSION);
          }
        },
      }),
    ),
    {
      name: "session/cancel for an unknown session, or without params, has no effect",
      run: async (trial) => {
        const wire = await acpWire(trial);
        wire.notify("session/cancel", { sessionId: "nope" });
        wire.notify("session/cancel");
        await wire.expectError("no/such/method", {}, { code: -32601 });
      },
    },
    {
      name: "$/cancel_request for a request that is not running has no effect",
      run: async (trial) => {
        const wire = await acpWire(trial);
        wire.notify("$/cancel_request", { requestId: 123456 });
        await wire.expectError("no/such/method", {}, { code: -32601 });
      },
    },
    {
      name: "a notification with an unknown method gets no response and has no effect",
      run: async (trial) => {
        const wire = await acpWire(trial);
        const after = wire.mark;
        wire.notify("no/such/notification", {});
        await wire.expectError("no/such/method", {}, { code: -32601 });
        const answers = wire.since(after).filter((message) => !("method" in message));
        if (answers.length !== 1) throw new Failed(`it was answered with ${formatValue(answers[0])}`);
      },
    },
    {
      name: "a response to a request that was never sent has no effect",
      run: async (trial) => {
        const wire = await acpWire(trial);
        wire.answer("never asked", {});
        await wire.expectError("no/such/method", {}, { code: -32601 });
      },
    },
    ...NOT_MESSAGES.map(
      ([what, text, code]): Check => ({
        name: `${what} is refused with ${code}, and the connection stays open`,
        run: async (trial) => {
          const wire = await acpWire(trial);
          const after = wire.mark;
          wire.sendText(text);
          const isRefusal = (message: object): boolean => "error" in message;
          const refusal = await wire.waitFor(isRefusal, { after, what: "a refusal" });
          expectFit("the refusal", refusal, { id: anyOf(null, NUMBER), error: { code } });
          await wire.expectError("no/such/method", {}, { code: -32601 });
        },
      }),
    ),
  ],
};

function invalid(what: string, method: string, params: (cwd: string) => unknown): Check {
  return {
    name: `${what} is refused with -32602`,
    run: async (trial) => {
      const wire = await acpWire(trial);
      await wire.expectError(method, params(trial.cwd), INVALID_PARAMS);
    },
  };
}
