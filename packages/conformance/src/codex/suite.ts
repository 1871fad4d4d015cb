import type { CheckGroup, Suite } from "../check.ts";
import { expectFit, Failed, formatValue, STRING } from "../wire/pattern.ts";
import { APPROVALS } from "./approvals.ts";
import { CATALOGUE } from "./catalogue.ts";
import { CLIENT, codexWire, initialize, OPTIONAL_NOTIFICATIONS, UNKNOWN_METHOD } from "./client.ts";
import { CONNECTIONS, RESUMING } from "./connections.ts";
import { MALFORMED } from "./malformed.ts";
import { THREADS } from "./threads.ts";
import { TURNS } from "./turns.ts";

/** Fields that the schemas let be null or absent, that belong to Codex itself, and that no client was seen to need. */
const OPTIONAL = [
  "answer to config/read.config",
  "answer to config/read.origins",
  "answer to configRequirements/read.supportsIndependentSpeedModes",
  "item/commandExecution/requestApproval.proposedExecpolicyAmendment",
  "*.backwardsCursor",
  "*.completedAtMs",
  "*.item.id",
  "*.originator",
  "*.path",
  "*.readStates",
  "*.startedAtMs",
];

/** Checks of what has to come first, and only once. */
const HANDSHAKE: CheckGroup = {
  about: "Handshake",
  checks: [
    {
      name: "a request before initialize is refused with -32600 “Not initialized”",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.expectError("thread/list", {}, { code: -32600, message: "Not initialized" });
      },
    },
    {
      name: "an unknown method is refused as unknown even before initialize",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.expectError("no/such/method", {}, UNKNOWN_METHOD);
      },
    },
    {
      name: "initialize without clientInfo is refused and names the missing field",
      run: async (trial) => {
        const wire = await trial.fresh();
        const message = "Invalid request: missing field `clientInfo`";
        await wire.expectError("initialize", {}, { code: -32600, message });
        await initialize(wire);
      },
    },
    {
      name: "initialize answers with userAgent, codexHome, platformFamily and platformOs",
      run: async (trial) => {
        const wire = await trial.fresh();
        const result = await wire.result("initialize", { clientInfo: CLIENT });
        const expected = { userAgent: STRING, codexHome: STRING, platformFamily: STRING, platformOs: STRING };
        expectFit("the result of initialize", result, expected);
      },
    },
    {
      name: "a second initialize is refused with -32600 “Already initialized”",
      run: async (trial) => {
        const wire = await trial.fresh();
        await initialize(wire);
        const refused = { code: -32600, message: "Already initialized" };
        await wire.expectError("initialize", { clientInfo: CLIENT }, refused);
      },
    },
    {
      name: "a client that never sends initialized is still served",
      run: async (trial) => {
        const wire = await trial.fresh();
        await wire.result("initialize", { clientInfo: CLIENT });
        expectFit("thread/loaded/list", await wire.result("thread/loaded/list", {}), { data: [] });
      },
    },
    {
      name: "ids are echoed exactly: 0, a negative number, a string, a UUID",
      run: async (trial) => {
        const wire = await codexWire(trial);
        for (const id of [0, -7, "", "initialize", "7f2c1d34-5b16-4a6e-9d1c-0a1b2c3d4e5f"]) {
          const after = wire.mark;
          wire.send({ id, method: "model/list", params: {} });
          const answer = await wire.answerTo(id, after);
          if (answer.result === undefined)
            throw new Failed(`id ${formatValue(id)} was answered with ${formatValue(answer)}`);
        }
      },
    },
    {
      name: "a request with a jsonrpc field is understood, and no answer has one",
      run: async (trial) => {
        const wire = await codexWire(trial);
        const after = wire.mark;
        wire.send({ jsonrpc: "2.0", id: "with-header", method: "model/list", params: {} });
        const answer = await wire.answerTo("with-header", after);
        if ("jsonrpc" in answer) throw new Failed("the answer has a jsonrpc field");
      },
    },
  ],
};

/**
 * The requirements on a server for the clients of the Codex app server 0.166, as that server itself meets
 * them.
 */
export const CODEX_SUITE: Suite = {
  protocol: "codex",
  header: false,
  groups: [HANDSHAKE, MALFORMED, THREADS, RESUMING, TURNS, APPROVALS, CONNECTIONS, CATALOGUE],
  tolerances: {
    optionalMessages: [...OPTIONAL_NOTIFICATIONS, "thread/tokenUsage/updated"],
    unordered: ["thread/status/changed", "serverRequest/resolved"],
    errors: "words",
    optionalFields: OPTIONAL,
  },
};
