/** A notification as a line of this wire: without a header, and with the time it was sent. */
export function encodeTold(method: string, params: object, emittedAtMs: number): string {
  return JSON.stringify({ method, params, emittedAtMs });
}
