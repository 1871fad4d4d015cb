import { CODEX } from "@flint/protocol/codex";
import { describeFrontend, describeTranslation } from "@flint/testkit";
import { ClientConnection } from "../shared/client-connection.ts";
import { CLIENT_SCRIPTS } from "../testing/client-scripts.ts";
import { messagesOf } from "./events/events.ts";
import { codexFrontend } from "./frontend.ts";
import { NO_HOST } from "./host/host.ts";
import { RequestedPolicies } from "./wire/policies.ts";

describeFrontend("the Codex front end", {
  create: (clock) => codexFrontend(NO_HOST, clock),
  connect: (frontend, engine, transport) => new ClientConnection(frontend, engine, transport),
  script: CLIENT_SCRIPTS.codex,
  notShown: {
    events: [
      "thread/session/updated",
      "thread/commands/updated",
      "item/fileChange/outputDelta",
      "config/updated",
      "task/event",
      "extension/notified",
    ],
    // The call that started the sub-agent has its result; Codex shows no more of one either.
    items: ["subAgentMessage"],
  },
});

const COMMAND = "item/commandExecution/requestApproval";
const FILE_CHANGE = "item/fileChange/requestApproval";
const TOOL = "mcpServer/elicitation/request";

describeTranslation(
  "the Codex front end",
  { vocabulary: CODEX, events: (event) => messagesOf(event, new RequestedPolicies()) },
  {
    consents: {
      [COMMAND]: [{ decision: "accept" }, { decision: "acceptForSession" }],
      [FILE_CHANGE]: [{ decision: "accept" }, { decision: "acceptForSession" }],
      [TOOL]: [{ action: "accept", content: {} }],
    },
    refusals: {
      [COMMAND]: [{ decision: "decline" }, { decision: "cancel" }],
      [FILE_CHANGE]: [{ decision: "decline" }, { decision: "cancel" }],
      [TOOL]: [{ action: "decline" }, { action: "cancel" }],
    },
  },
);
