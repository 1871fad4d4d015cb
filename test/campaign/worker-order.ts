import { isRecord } from "@flint/protocol";

/** The namespace of a campaign's tasks, in a Redis of its own. */
export const NAMESPACE = "campaign";

/** The arguments of a worker process. */
export interface WorkerOrder {
  readonly url: string;
  readonly name: string;
  /** The public key whose tasks it runs. */
  readonly key: string;
  readonly ledger: string;
  readonly leaseMs: number;
  /** How long its runs take. */
  readonly workMs: number;
}

/** The order in an argument. Throws if there is none. */
export function readOrder(text = ""): WorkerOrder {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.url !== "string") throw new Error("The argument is not an order.");
  return value as unknown as WorkerOrder; // Only the campaign that starts workers writes it.
}
