import { describeFrontend } from "@flint/testkit";
import { ClientConnection } from "../shared/client-connection.ts";
import { CLIENT_SCRIPTS } from "../testing/client-scripts.ts";
import { acpFrontend } from "./frontend.ts";

describeFrontend("the ACP front end", {
  create: () => acpFrontend(),
  connect: (frontend, engine, transport) => new ClientConnection(frontend, engine, transport),
  script: CLIENT_SCRIPTS.acp,
  notShown: {
    events: [
      "thread/started",
      // The choices of a session are sent when the core's answer shows that they have changed.
      "thread/settings/updated",
      "config/updated",
      "account/login/completed",
      "account/updated",
      "account/limits",
      "task/event",
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
      "turn/started",
      "turn/diff/updated",
      "item/fileChange/outputDelta",
      "item/mcpToolCall/progress",
      "extension/notified",
      "tool/requested",
      "tool/resolved",
    ],
    items: [],
  },
});
