import { HARNESS } from "@flint/protocol";
import type { Check, CheckGroup, Suite } from "../check.ts";
import { vocabularyChecks } from "../vocabulary-check.ts";
import { BOOLEAN, expectFit, Failed, formatValue, NON_EMPTY_STRING, OBJECT } from "../wire/pattern.ts";
import { harnessWire, LIFECYCLE } from "./lifecycle.ts";

const UNKNOWN_ID = "0190a000-0000-7000-8000-000000000000";

/** Requests that are refused, and with which number. */
const REFUSED: readonly (readonly [name: string, method: string, params: unknown, code: number])[] = [
  ["an unknown method", "no.such", {}, -32601],
  ["a missing field", "thread.get", {}, -32602],
  ["a field of the wrong type", "thread.get", { threadId: 7 }, -32602],
  ["a turn without input", "turn.start", { threadId: UNKNOWN_ID, input: [] }, -32602],
  ["a thread that is not there", "thread.get", { threadId: UNKNOWN_ID }, -32001],
  ["an approval that is not open", "approval.respond", { requestId: "x", decision: "once" }, -32004],
];

/** Text that is not a message, and the number they are refused with. */
const NOT_MESSAGES: readonly (readonly [what: string, text: string, code: number])[] = [
  ["text that is not JSON", "{nope", -32700],
  ["a list", "[1]", -32600],
];

/** The handshake, and the answers to malformed input. */
const PROTOCOL_ERRORS: CheckGroup = {
  about: "Handshake and bad input",
  checks: [
    {
      name: "initialize answers with a version and five capabilities, and may come again",
      run: async (trial) => {
        const wire = await trial.fresh();
        const capabilities = {
          threads: BOOLEAN,
          turns: BOOLEAN,
          approvals: BOOLEAN,
          streaming: BOOLEAN,
          persistence: BOOLEAN,
        };
        const expected = { version: NON_EMPTY_STRING, capabilities };
        expectFit("initialize", await wire.result("initialize", {}), expected);
        expectFit("a second initialize", await wire.result("initialize"), expected);
      },
    },
    {
      name: "a client that never sends initialize is still served",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.result("thread.list", {});
      },
    },
    {
      name: "ids are echoed exactly: 0, a negative number, a string",
      run: async (trial) => {
        const wire = await harnessWire(trial);
        for (const id of [0, -7, "seven", ""]) {
          const after = wire.mark;
          wire.send({ jsonrpc: "2.0", id, method: "thread.list", params: {} });
          const answer = await wire.answerTo(id, after);
          if (answer.result === undefined)
            throw new Failed(`id ${formatValue(id)} was answered with ${formatValue(answer)}`);
        }
      },
    },
    ...REFUSED.map(
      ([name, method, params, code]): Check => ({
        name: `${name} is refused with ${code}`,
        run: async (trial) => {
          const wire = await harnessWire(trial);
          await wire.expectError(method, params, { code });
        },
      }),
    ),
    {
      name: "a thread id with ../ or a null byte is an error and no path",
      run: async (trial) => {
        const wire = await harnessWire(trial);
        for (const threadId of ["../../etc/passwd", "a\0b", ""]) {
          const { code } = await wire.expectError("thread.get", { threadId }, OBJECT);
          if (code !== -32602 && code !== -32001)
            throw new Failed(`it was refused with ${formatValue(code)}`);
        }
      },
    },
    ...NOT_MESSAGES.map(
      ([what, text, code]): Check => ({
        name: `${what} is refused with ${code}, and the connection stays open`,
        run: async (trial) => {
          const wire = await harnessWire(trial);
          const after = wire.mark;
          wire.sendText(text);
          const refusal = await wire.waitFor((message) => "error" in message, { after, what: "a refusal" });
          expectFit("the refusal", refusal, { id: null, error: { code } });
          await wire.result("thread.list", {});
        },
      }),
    ),
  ],
};

/** The requirements on a server of the harness protocol. */
export const HARNESS_SUITE: Suite = {
  protocol: "harness",
  header: HARNESS.header,
  groups: [PROTOCOL_ERRORS, LIFECYCLE, vocabularyChecks(HARNESS)],
  tolerances: { optionalMessages: [], unordered: [], errors: "words", optionalFields: [] },
};
