import type { Check, CheckGroup } from "../check.ts";
import { expectFit, Failed, formatValue, NON_EMPTY_STRING, OBJECT } from "../wire/pattern.ts";
import { FlintThread, flintWire, initialize } from "./client.ts";

const UNKNOWN_ID = "0190a000-0000-7000-8000-000000000000";

/** Requests that are refused, and as what. */
const REFUSED: readonly (readonly [
  name: string,
  method: string,
  params: unknown,
  code: number,
  reason: string,
])[] = [
  ["an unknown method", "no/such/method", {}, -32601, "methodNotFound"],
  ["a field of the wrong type", "thread/start", { cwd: 5 }, -32602, "invalidParams"],
  ["params that are a text", "thread/start", "x", -32600, "invalidRequest"],
  ["a missing field", "thread/read", {}, -32602, "invalidParams"],
  ["a relative folder", "thread/start", { cwd: "src" }, -32602, "invalidParams"],
  ["a thread that is not there", "thread/resume", { threadId: UNKNOWN_ID }, -32001, "threadNotFound"],
];

/** Ids that must never become paths. */
const HOSTILE_IDS = ["../../etc/passwd", "a\0b", "", "x".repeat(5000)];

/** Text that is not a message, and what they are refused as, with an id of null. */
const NOT_MESSAGES: readonly (readonly [what: string, text: string, code: number])[] = [
  ["text that is not JSON", "not json", -32700],
  ["a batch", '[{"id":1,"method":"thread/list"}]', -32600],
  ["an object that is not a message", '{"id":5}', -32600],
];

/** The handshake, and the answers to malformed input. */
export const PROTOCOL_ERRORS: CheckGroup = {
  about: "Handshake and bad input",
  checks: [
    {
      name: "a request before initialize is refused as notInitialized",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.expectError("model/list", {}, { code: -32000, data: { reason: "notInitialized" } });
        await initialize(wire);
      },
    },
    {
      name: "initialize answers with server info and capabilities",
      run: async (trial) => {
        const wire = await trial.fresh();
        const result = await wire.result("initialize", { clientInfo: { name: "x", version: "1" } });
        expectFit("initialize", result, {
          agentInfo: { name: NON_EMPTY_STRING, version: NON_EMPTY_STRING },
          capabilities: OBJECT,
        });
      },
    },
    {
      name: "a second initialize is refused as alreadyInitialized",
      run: async (trial) => {
        const wire = await trial.fresh();
        await initialize(wire);
        const again = { clientInfo: { name: "x", version: "1" } };
        await wire.expectError("initialize", again, { code: -32600, data: { reason: "alreadyInitialized" } });
      },
    },
    {
      name: "ids are echoed exactly: 0, a negative number, a string",
      run: async (trial) => {
        const wire = await flintWire(trial);
        for (const id of [0, -7, "seven", ""]) {
          const after = wire.mark;
          wire.send({ id, method: "model/list", params: {} });
          const answer = await wire.answerTo(id, after);
          if (answer.result === undefined)
            throw new Failed(`id ${formatValue(id)} was answered with ${formatValue(answer)}`);
        }
      },
    },
    ...REFUSED.map(
      ([name, method, params, code, reason]): Check => ({
        name: `${name} is refused as ${reason}`,
        run: async (trial) => {
          const wire = await flintWire(trial);
          await wire.expectError(method, params, { code, data: { reason } });
        },
      }),
    ),
    {
      name: "a thread id with ../, with a null byte, empty or too long is an error and no path",
      run: async (trial) => {
        const wire = await flintWire(trial);
        for (const threadId of HOSTILE_IDS) {
          for (const method of [
            "thread/read",
            "thread/resume",
            "thread/attach",
            "thread/delete",
            "turn/interrupt",
          ]) {
            const { code } = await wire.expectError(method, { threadId }, OBJECT);
            if (code !== -32602 && code !== -32001)
              throw new Failed(`${method} was refused with ${formatValue(code)}`);
          }
        }
      },
    },
    {
      name: "an approval that is not open is refused as approvalNotFound",
      run: async (trial) => {
        const { wire, id } = await FlintThread.start(trial);
        const params = {
          threadId: id,
          approvalId: UNKNOWN_ID,
          decision: { outcome: "allow", scope: "once" },
        };
        await wire.expectError("approval/respond", params, {
          code: -32004,
          data: { reason: "approvalNotFound" },
        });
      },
    },
    {
      name: "turn/interrupt while no turn runs is refused as notRunning",
      run: async (trial) => {
        const { wire, id } = await FlintThread.start(trial);
        await wire.expectError(
          "turn/interrupt",
          { threadId: id },
          { code: -32003, data: { reason: "notRunning" } },
        );
      },
    },
    ...NOT_MESSAGES.map(
      ([what, text, code]): Check => ({
        name: `${what} is refused with ${code}, and the connection stays open`,
        run: async (trial) => {
          const wire = await flintWire(trial);
          const after = wire.mark;
          wire.sendText(text);
          const refusal = await wire.waitFor((message) => "error" in message, { after, what: "a refusal" });
          expectFit("the refusal", refusal, { error: { code } });
          await wire.result("model/list", {});
        },
      }),
    ),
  ],
};
