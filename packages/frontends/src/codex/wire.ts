import { type Id, idText } from "@flint/rpc";

/** An answer that is JSON already, as a line of this wire. */
export function encodeAnswer(id: Id, result: string): string {
  return `{"id":${idText(id)},"result":${result}}`;
}

/** A notification as a line of this wire: without a header, and with the time it was sent. */
export function encodeTold(method: string, params: object, emittedAtMs: number): string {
  return JSON.stringify({ method, params, emittedAtMs });
}
