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
  /** Duration of its runs. */
  readonly workMs: number;
  /** The folder of the repository and of the state of workers, for those with agents. */
  readonly place?: string | undefined;
}

/** The agents that are real in a campaign with real agents. */
export const REAL_AGENTS = ["claude", "codex"] as const;
export type RealAgentName = (typeof REAL_AGENTS)[number];

/** The place in which a server that adds tasks keeps them. */
export interface AddingServerOptions {
  readonly url: string;
  /** The file with its own copy of the tasks it acknowledged. */
  readonly accepted: string;
  readonly leaseMs: number;
  /** The repository in which an agent works for its tasks; none does if absent. */
  readonly repository?: string | undefined;
  /** True if Claude and Codex work and review there, in turn, instead of the scripted agent. */
  readonly isReal?: boolean | undefined;
  /** The key with which it signs, as PEM; one of its own if absent. */
  readonly signingKey?: string | undefined;
}

/** The agent of tasks in which one works, and the file that it writes. */
export const AGENT = "scripted";
export const RESULT_FILE = "by.txt";

/** The title of tasks that kill every worker which runs them. */
export const POISON = "poison";

/** The order in an argument. Throws if there is none. */
export function readOrder(text = ""): WorkerOrder {
  return parsed(text) as unknown as WorkerOrder; // Only the campaign that starts workers writes it.
}

/** The order of a server in an argument. Throws if there is none. */
export function readServerOrder(text = ""): AddingServerOptions {
  return parsed(text) as unknown as AddingServerOptions; // Only the campaign that starts servers writes it.
}

/** Ends a process that cannot start with one line instead of a stack: Redis is away now and then, and it is started again. */
export function endQuietly(who: string): void {
  process.once("uncaughtException", (thrown) => {
    process.stderr.write(`${who} ended: ${thrown.message}\n`);
    process.exit(1);
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.url !== "string") throw new Error("The argument is not an order.");
  return value;
}
