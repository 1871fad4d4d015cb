import type { ErrorKind } from "../wire/errors.ts";
import { ERROR_KINDS } from "../wire/errors.ts";
import { foreignObject, notification } from "../wire/foreign-wire.ts";
import { defineVocabulary, STANDARD_CODES } from "../wire/vocabulary.ts";
import { CODEX_CLIENT_REQUESTS } from "./client-requests.ts";
import { CODEX_SERVER_NOTIFICATIONS } from "./server-notifications.ts";
import { CODEX_SERVER_REQUESTS } from "./server-requests.ts";

export * from "./client-requests.ts";
export * from "./experimental.ts";
export * from "./fields.ts";
export * from "./host-requests.ts";
export * from "./items.ts";
export * from "./notifications.ts";
export * from "./requests.ts";
export * from "./sandbox-policy.ts";
export * from "./server-notifications.ts";
export * from "./server-requests.ts";
export * from "./values.ts";
export * from "./version.ts";

/** Codex has one code for anything wrong with a request, and one for overload. */
const OVERLOADED = -32001;

// Object.fromEntries forgets the names it was given.
const errorCodes = Object.fromEntries(
  Object.keys(ERROR_KINDS).map((kind) => [kind, STANDARD_CODES.invalidRequest]),
) as Record<ErrorKind, number>;

/** The part of the protocol of the Codex app-server that Flint has. */
export const CODEX = defineVocabulary({
  name: "codex",
  header: false,
  requests: CODEX_CLIENT_REQUESTS,
  notifications: { initialized: notification("The client is ready.", () => foreignObject({})) },
  serverRequests: CODEX_SERVER_REQUESTS,
  serverNotifications: CODEX_SERVER_NOTIFICATIONS,
  errorCodes: {
    ...errorCodes,
    parseError: STANDARD_CODES.parseError,
    internalError: STANDARD_CODES.internalError,
    overloaded: OVERLOADED,
  },
});
