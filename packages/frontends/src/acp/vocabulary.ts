import {
  defineVocabulary,
  type ErrorKind,
  FlintError,
  foreignObject,
  notification,
  nullish,
  request,
  STANDARD_CODES,
} from "@flint/protocol";
import type { RpcError } from "@flint/rpc";
import * as z from "zod/mini";
import { ACP_REQUESTS } from "./requests.ts";

/** The error codes that ACP adds to those of JSON-RPC. */
export const ACP_CODES = {
  authRequired: -32_000,
  resourceNotFound: -32_002,
  unsupportedVersion: -32_022,
  requestCancelled: -32_800,
} as const;

const RequestId = z.union([z.string(), z.number(), z.null()]);

/** The notifications of clients. */
export const ACP_NOTIFICATIONS = {
  "session/cancel": notification("Stop the work on the prompts of a session.", () =>
    foreignObject({ sessionId: z.string() }),
  ),
  "$/cancel_request": notification("Cancel a request.", () => foreignObject({ requestId: RequestId })),
} as const;

/** The response to `session/request_permission`. */
export const PermissionResponse = foreignObject({
  outcome: foreignObject({ outcome: z.string(), optionId: nullish(z.string()) }),
});

/** The response to `elicitation/create`. */
export const ElicitationResponse = foreignObject({
  action: z.string(),
  content: nullish(z.record(z.string(), z.unknown())),
});

const Empty = z.unknown();
const OfTerminal = () => foreignObject({ sessionId: z.string(), terminalId: z.string() });

/** The Agent Client Protocol as Flint serves it. */
export const ACP = defineVocabulary({
  name: "acp",
  header: true,
  requests: ACP_REQUESTS,
  notifications: ACP_NOTIFICATIONS,
  serverRequests: {
    "session/request_permission": request(
      "Ask the user for permission.",
      () =>
        foreignObject({
          sessionId: z.string(),
          /** Only in version 1; version 2 has a title and a subject. */
          toolCall: z.optional(z.unknown()),
          options: z.array(z.unknown()),
        }),
      () => PermissionResponse,
    ),
    "fs/read_text_file": request(
      "Read a file as it is in the editor, saved or not.",
      () => foreignObject({ sessionId: z.string(), path: z.string() }),
      () => ReadTextFileResponse,
    ),
    "fs/write_text_file": request(
      "Write a whole file, in the editor and on the disk.",
      () => foreignObject({ sessionId: z.string(), path: z.string(), content: z.string() }),
      () => Empty,
    ),
    "terminal/create": request(
      "Run a command in a terminal of the editor.",
      () =>
        foreignObject({
          ...{ sessionId: z.string(), command: z.string(), args: z.array(z.string()), cwd: z.string() },
          env: z.optional(z.array(foreignObject({ name: z.string(), value: z.string() }))),
          outputByteLimit: z.number(),
        }),
      () => CreateTerminalResponse,
    ),
    "terminal/output": request("Read what a command has printed.", OfTerminal, () => TerminalOutputResponse),
    "terminal/wait_for_exit": request(
      "Wait until a command has ended.",
      OfTerminal,
      () => WaitForExitResponse,
    ),
    "terminal/kill": request("Kill a command; its terminal stays open.", OfTerminal, () => Empty),
    "terminal/release": request("Kill a command and close its terminal.", OfTerminal, () => Empty),
    "elicitation/create": request(
      "Ask the user questions in a form.",
      () => foreignObject({ mode: z.string(), message: z.string(), requestedSchema: z.unknown() }),
      () => ElicitationResponse,
    ),
  },
  serverNotifications: {
    "session/update": notification("An update of a session.", () =>
      foreignObject({ sessionId: z.string(), update: foreignObject({ sessionUpdate: z.string() }) }),
    ),
    "$/cancel_request": notification("Cancel a request that another client has answered.", () =>
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

/** An error with a code that only ACP has. */
export class AcpError extends FlintError {
  readonly code: number;

  constructor(code: keyof typeof ACP_CODES, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super("invalidRequest", message, data);
    this.code = ACP_CODES[code];
  }
}

/** The error for an unknown session, which names where to find known ones. */
export function sessionNotFound(sessionId: string): FlintError {
  const shortened = sessionId.slice(0, 100);
  const message = `Resource not found: no session has the id ${JSON.stringify(shortened)}. List sessions with session/list, or start one with session/new.`;
  return new FlintError("threadNotFound", message, { sessionId: shortened });
}

/** An error as clients receive it: the code of its kind, and the kind by name. */
export function rpcErrorOf(error: FlintError): RpcError {
  const code = error instanceof AcpError ? error.code : ACP.errorCodes[error.kind];
  return { code, message: error.message, data: { ...error.data, reason: reasonOf(error) } };
}

function reasonOf(error: FlintError): ErrorKind | "requestCancelled" {
  return error instanceof AcpError && error.code === ACP_CODES.requestCancelled
    ? "requestCancelled"
    : error.kind;
}

/** The response to `fs/read_text_file`. */
export const ReadTextFileResponse = foreignObject({ content: z.string() });

/** The response to `terminal/create`. */
export const CreateTerminalResponse = foreignObject({ terminalId: z.string().check(z.minLength(1)) });

/** The response to `terminal/output`. */
export const TerminalOutputResponse = foreignObject({ output: z.string(), truncated: z.boolean() });

/** The response to `terminal/wait_for_exit`. */
export const WaitForExitResponse = foreignObject({
  exitCode: nullish(z.number()),
  signal: nullish(z.string()),
});
export type WaitForExitResponse = z.output<typeof WaitForExitResponse>;
