import {
  defineVocabulary,
  foreignObject,
  notification,
  nullish,
  request,
  STANDARD_CODES,
} from "@flint/protocol";
import * as z from "zod/mini";
import { ACP_REQUESTS } from "./requests.ts";

/** The numbers that ACP adds to those of JSON-RPC. */
export const ACP_CODES = {
  authRequired: -32_000,
  resourceNotFound: -32_002,
  unsupportedVersion: -32_022,
  requestCancelled: -32_800,
} as const;

const RequestId = z.union([z.string(), z.number(), z.null()]);

/** What clients tell without waiting for an answer. */
export const ACP_NOTIFICATIONS = {
  "session/cancel": notification("Stop the work on a prompt.", () =>
    foreignObject({ sessionId: z.string() }),
  ),
  "$/cancel_request": notification("Nobody waits for the answer to a request any more.", () =>
    foreignObject({ requestId: RequestId }),
  ),
} as const;

/** The client's answer to a request for permission. */
export const PermissionAnswer = foreignObject({
  outcome: foreignObject({ outcome: z.string(), optionId: nullish(z.string()) }),
});

/** A file as it stands in the editor. */
export const FileAnswer = foreignObject({ content: z.string() });

/** The client's answer to a form. */
export const ElicitationAnswer = foreignObject({
  action: z.string(),
  content: nullish(z.record(z.string(), z.unknown())),
});

/** The Agent Client Protocol as Flint serves it. */
export const ACP = defineVocabulary({
  name: "acp",
  header: true,
  requests: ACP_REQUESTS,
  notifications: ACP_NOTIFICATIONS,
  serverRequests: {
    "session/request_permission": request(
      "May the agent do this?",
      () => foreignObject({ sessionId: z.string(), toolCall: z.unknown(), options: z.array(z.unknown()) }),
      () => PermissionAnswer,
    ),
    "fs/read_text_file": request(
      "A file as it stands in the editor.",
      () => foreignObject({ sessionId: z.string(), path: z.string() }),
      () => FileAnswer,
    ),
    "elicitation/create": request(
      "The agent wants to know something from the user.",
      () => foreignObject({ mode: z.string(), message: z.string(), requestedSchema: z.unknown() }),
      () => ElicitationAnswer,
    ),
  },
  serverNotifications: {
    "session/update": notification("What happens in a conversation.", () =>
      foreignObject({ sessionId: z.string(), update: foreignObject({ sessionUpdate: z.string() }) }),
    ),
    "$/cancel_request": notification("Somebody else has answered a request.", () =>
      foreignObject({ requestId: RequestId }),
    ),
  },
  errorCodes: {
    ...STANDARD_CODES,
    notInitialized: STANDARD_CODES.invalidRequest,
    alreadyInitialized: STANDARD_CODES.invalidRequest,
    turnInProgress: STANDARD_CODES.invalidRequest,
    notRunning: STANDARD_CODES.invalidRequest,
    approvalNotFound: STANDARD_CODES.invalidParams,
    turnNotFound: ACP_CODES.resourceNotFound,
    queuedInputNotFound: ACP_CODES.resourceNotFound,
    threadNotFound: ACP_CODES.resourceNotFound,
    threadLocked: STANDARD_CODES.internalError,
    storageFailed: STANDARD_CODES.internalError,
    unsupported: STANDARD_CODES.invalidRequest,
    sandboxUnavailable: STANDARD_CODES.internalError,
    agentFailed: STANDARD_CODES.internalError,
    overloaded: STANDARD_CODES.internalError,
    budgetExceeded: STANDARD_CODES.internalError,
  },
});
