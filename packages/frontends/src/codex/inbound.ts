import type { CodexClientRequest } from "@flint/protocol/codex";
import { hostRequests } from "./host/requests.ts";
import { goalRequests } from "./requests/goals.ts";
import { hello } from "./requests/hello.ts";
import { historyRequests } from "./requests/history.ts";
import { modelList } from "./requests/models.ts";
import { openingRequests } from "./requests/opening.ts";
import { queueRequests } from "./requests/queue.ts";
import { threadRequests } from "./requests/threads.ts";
import { turnRequests } from "./requests/turns.ts";
import type { Handlers } from "./visit.ts";

/** How each request of this door is answered. */
export const inbound: Handlers<CodexClientRequest> = {
  initialize: hello,
  "model/list": modelList,
  ...openingRequests,
  ...historyRequests,
  ...threadRequests,
  ...goalRequests,
  ...queueRequests,
  ...turnRequests,
  ...hostRequests,
};
