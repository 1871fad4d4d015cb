import type * as z from "zod/mini";
import type { ErrorKind } from "./errors.ts";
import { lazy } from "./loose-object.ts";

/** A request of a wire: its purpose, params and result. */
export interface RequestRow {
  readonly doc: string;
  readonly params: z.ZodMiniType;
  readonly result: z.ZodMiniType;
  /** True if a client has to ask for experimental methods to use it. */
  readonly experimental?: boolean;
}

/** A notification of a wire. */
export interface NotificationRow {
  readonly doc: string;
  readonly params: z.ZodMiniType;
}

/** Declares a request; its schemas are built on first use. */
export function request<Params extends z.ZodMiniType, Result extends z.ZodMiniType>(
  doc: string,
  makeParams: () => Params,
  makeResult: () => Result,
) {
  const params = lazy(makeParams);
  const result = lazy(makeResult);
  return {
    doc,
    get params() {
      return params();
    },
    get result() {
      return result();
    },
  };
}

/** Declares a notification; its schema is built on first use. */
export function notification<Params extends z.ZodMiniType>(doc: string, makeParams: () => Params) {
  const params = lazy(makeParams);
  return {
    doc,
    get params() {
      return params();
    },
  };
}

/** Everything that is defined for one wire: its requests, notifications and error codes. */
export interface Vocabulary {
  readonly name: string;
  /** True if every message carries `"jsonrpc": "2.0"`. Both forms are always accepted. */
  readonly header: boolean;
  readonly requests: Readonly<Record<string, RequestRow>>;
  readonly notifications: Readonly<Record<string, NotificationRow>>;
  readonly serverRequests: Readonly<Record<string, RequestRow>>;
  readonly serverNotifications: Readonly<Record<string, NotificationRow>>;
  readonly errorCodes: Readonly<Record<ErrorKind, number>>;
}

/** The names of the requests of a wire. */
export type RequestOf<V extends Vocabulary> = keyof V["requests"] & string;
/** The params of a request. */
export type ParamsOf<V extends Vocabulary, Name extends RequestOf<V>> = z.output<
  V["requests"][Name]["params"]
>;

/** The error codes of JSON-RPC itself; each wire adds its own. */
export const STANDARD_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

/** The error codes that Flint's own protocols have in common, beside those of JSON-RPC. */
export const SERVER_CODES = {
  queuedInputNotFound: -32006,
  threadLocked: -32007,
  storageFailed: -32008,
  unsupported: -32009,
  sandboxUnavailable: -32010,
  agentFailed: -32011,
  overloaded: -32012,
  budgetExceeded: -32013,
} as const;

/** Declares a vocabulary with its exact type, checking that nothing is missing. */
export function defineVocabulary<const V extends Vocabulary>(vocabulary: V): V {
  return vocabulary;
}
