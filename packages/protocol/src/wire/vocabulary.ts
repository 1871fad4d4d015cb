import type * as z from "zod/mini";
import type { ErrorKind } from "./errors.ts";
import { lazy } from "./loose-object.ts";

/** A request of a wire: what it is for, what it takes and gives. */
export interface RequestRow {
  readonly doc: string;
  readonly params: z.ZodMiniType;
  readonly result: z.ZodMiniType;
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

/** All the words of one wire, and the numbers its errors have. */
export interface Vocabulary {
  readonly name: string;
  /** Whether every message carries `"jsonrpc": "2.0"`. Both forms are always understood. */
  readonly header: boolean;
  readonly requests: Readonly<Record<string, RequestRow>>;
  readonly notifications: Readonly<Record<string, NotificationRow>>;
  readonly serverRequests: Readonly<Record<string, RequestRow>>;
  readonly serverNotifications: Readonly<Record<string, NotificationRow>>;
  readonly errorCodes: Readonly<Record<ErrorKind, number>>;
}

/** The names of the requests of a wire. */
export type RequestOf<V extends Vocabulary> = keyof V["requests"] & string;
/** What a request takes. */
export type ParamsOf<V extends Vocabulary, Name extends RequestOf<V>> = z.output<
  V["requests"][Name]["params"]
>;
/** What a request gives. */
export type ResultOf<V extends Vocabulary, Name extends RequestOf<V>> = z.output<
  V["requests"][Name]["result"]
>;

/** The numbers that JSON-RPC itself gives to errors; the rest belong to each wire. */
export const STANDARD_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

/** Keeps the exact type of a vocabulary while checking that nothing is missing. */
export function defineVocabulary<const V extends Vocabulary>(vocabulary: V): V {
  return vocabulary;
}
