import type { Outbound } from "./dialect.ts";

/** What is sent for an event: lines that are the same for every client of a door, and requests that are not. */
export type Encoded = { readonly kind: "line"; readonly line: string } | Exclude<Outbound, { kind: "tell" }>;
