import type { Transport } from "@flint/rpc";

/** Why a listener ends a connection by itself, with the code and the words of a WebSocket close. */
export const CUTS = {
  silent: { code: 1008, words: "no initialize came in time" },
  crowded: { code: 1013, words: "too many connections; try again later" },
  stalled: { code: 1008, words: "nothing was read for too long; attach again" },
  stopping: { code: 1001, words: "the server is stopping" },
} as const;

/** Why a connection is cut. */
export type Cut = keyof typeof CUTS;

/** A transport that can also be ended at once, whether the other side reads or not. */
export interface GuestTransport extends Transport {
  cut(why: Cut): void;
}
