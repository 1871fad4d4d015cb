import { describeFrontend, describeTranslation } from "@flint/testkit";
import { ClientConnection } from "../shared/client-connection.ts";
import { CLIENT_SCRIPTS } from "../testing/client-scripts.ts";
import { harnessFrontend } from "./frontend.ts";

const requestId = "0190a000-0000-7000-8000-000000000001.0190a000-0000-7000-8000-000000000002";

describeFrontend("the harness front end", {
  create: harnessFrontend,
  connect: (frontend, engine, transport) => new ClientConnection(frontend, engine, transport),
  script: CLIENT_SCRIPTS.harness,
  notShown: {
    events: [
      "thread/settings/updated",
      "thread/name/updated",
      "thread/archived",
      "thread/unarchived",
      "thread/deleted",
      "thread/closed",
      "thread/status/changed",
      "thread/goal/updated",
      "thread/goal/cleared",
      "thread/session/updated",
      "thread/reverted",
      "thread/revert/undone",
      "thread/queue/changed",
      "thread/tokenUsage/updated",
      "turn/diff/updated",
      "error",
      "warning",
      "model/rerouted",
      "config/updated",
      "extension/notified",
      "tool/requested",
      "tool/resolved",
    ],
    items: [],
  },
});

describeTranslation("the harness front end", harnessFrontend(), {
  requests: { "approval.respond": [{ requestId, decision: "once" }] },
});
