import type { CheckGroup, Suite } from "../check.ts";
import {
  anyOf,
  at,
  BOOLEAN,
  expectFit,
  Failed,
  formatValue,
  LIST,
  NULLISH,
  NUMBER,
  OBJECT,
  STRING,
} from "../wire/pattern.ts";
import { acpWire, INITIALIZE_PARAMS, initialize } from "./client.ts";
import { MALFORMED } from "./malformed.ts";
import { PROMPTS } from "./prompts.ts";
import { SESSIONS } from "./sessions.ts";

/** Checks of the start of a connection, and of valid ids. */
const HANDSHAKE: CheckGroup = {
  about: "Handshake",
  checks: [
    {
      name: "initialize with version 1 answers with version 1 and the agent's capabilities",
      run: async (trial) => {
        const wire = await trial.fresh();
        const result = await wire.result("initialize", INITIALIZE_PARAMS);
        expectFit("the result of initialize", result, {
          protocolVersion: 1,
          agentCapabilities: {
            loadSession: anyOf(NULLISH, BOOLEAN),
            promptCapabilities: anyOf(NULLISH, OBJECT),
            sessionCapabilities: anyOf(NULLISH, OBJECT),
          },
          agentInfo: anyOf(NULLISH, { name: STRING, version: STRING }),
          authMethods: anyOf(NULLISH, LIST),
        });
      },
    },
    {
      name: "initialize without clientCapabilities is accepted, and a session can be opened",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.result("initialize", { protocolVersion: 1 });
        const answer = await wire.ask("session/new", { cwd: trial.cwd, mcpServers: [] });
        const fine = answer.result !== undefined || at(answer, "error", "code") === -32000;
        if (!fine) throw new Failed(`session/new was answered with ${formatValue(answer)}`);
      },
    },
    {
      name: "initialize without a protocol version is refused with -32602",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.expectError("initialize", {}, { code: -32602 });
      },
    },
    {
      name: "an unknown newer version is answered with one that the agent supports",
      run: async (trial) => {
        const wire = await trial.fresh();
        const { protocolVersion } = await wire.result("initialize", {
          ...INITIALIZE_PARAMS,
          protocolVersion: 99,
        });
        expectFit("protocolVersion", protocolVersion, anyOf(1, 2));
      },
    },
    {
      name: "a request before initialize is refused",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.expectError(
          "session/new",
          { cwd: trial.cwd, mcpServers: [] },
          { code: NUMBER, message: STRING },
        );
        await initialize(wire);
      },
    },
    {
      name: "ids are echoed exactly: 0, a negative number, a string, an empty string",
      run: async (trial) => {
        const wire = await acpWire(trial);
        for (const id of [0, -7, "seven", ""]) {
          const after = wire.mark;
          wire.send({ jsonrpc: "2.0", id, method: "no/such/method", params: {} });
          expectFit("the answer", await wire.answerTo(id, after), { id, error: { code: -32601 } });
        }
      },
    },
    {
      name: "every message of the agent has jsonrpc 2.0",
      run: async (trial) => {
        const wire = await acpWire(trial);
        await wire.ask("no/such/method", {});
        const without = wire.since(0).find((message) => message.jsonrpc !== "2.0");
        if (without !== undefined) throw new Failed(`this one has not: ${formatValue(without)}`);
      },
    },
  ],
};

/** The requirements on an agent for the clients of the Agent Client Protocol, version 1. */
export const ACP_SUITE: Suite = {
  protocol: "acp",
  header: true,
  groups: [HANDSHAKE, MALFORMED, PROMPTS, SESSIONS],
  // Agents differ in optional notifications, and in the selectors they offer.
  tolerances: {
    optionalMessages: ["session/update", "_", "$/"],
    unordered: [],
    errors: "fact",
    optionalFields: ["*.modes", "*.models", "*.configOptions", "*._meta"],
  },
};
