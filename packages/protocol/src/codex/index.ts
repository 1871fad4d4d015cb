import { ERROR_KINDS, type ErrorKind } from "../wire/errors.ts";
import { foreignObject } from "../wire/loose-object.ts";
import { defineVocabulary, notification, STANDARD_CODES } from "../wire/vocabulary.ts";
import { CODEX_CLIENT_REQUESTS } from "./client-requests.ts";
import { CODEX_SERVER_NOTIFICATIONS } from "./notifications.ts";
import { CODEX_SERVER_REQUESTS } from "./server-requests.ts";

export * from "./account-requests.ts";
export * from "./accounts.ts";
export * from "./client-requests.ts";
export * from "./host-requests.ts";
export * from "./items.ts";
export * from "./notifications.ts";
export * from "./policies.ts";
export * from "./requests.ts";
export * from "./server-requests.ts";
export * from "./values.ts";

/** Codex has one code for anything wrong with a request, and one for overload. */
const OVERLOADED = -32001;

// Object.fromEntries loses the type of the names.
const errorCodes = Object.fromEntries(
  Object.keys(ERROR_KINDS).map((kind) => [kind, STANDARD_CODES.invalidRequest]),
) as Record<ErrorKind, number>;

/** The part of the Codex app-server protocol that Flint serves. */
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

/** The version of Codex whose protocol this is, as its `codex app-server generate-ts` prints it. */
export const CODEX_VERSION = "0.166.0";
