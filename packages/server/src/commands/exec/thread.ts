import type { ParamsInput } from "@flint/protocol";
import type { AgentEvent, FlintClient, ThreadHandle } from "@flint/sdk";
import type { PlacedOptions } from "../arguments.ts";
import { findThread, newestThread } from "../thread-reference.ts";
import type { ExecOptions } from "./options.ts";

/** What a turn changes of the settings of its thread. */
export type TurnOverrides = Pick<
  ParamsInput<"turn/start">,
  "model" | "cwd" | "approvalPolicy" | "sandboxPolicy" | "budget"
>;

/** The thread of this run, and what its turn changes of it. */
export interface OpenedThread {
  readonly thread: ThreadHandle;
  /** What `thread/started` would say of a thread that is taken up: it tells its history to nobody. */
  readonly takenUp: AgentEvent | undefined;
  readonly overrides: TurnOverrides;
}

/** Starts a thread, or takes up the one that is meant with what was asked for on the command line. */
export async function openThread(
  client: FlintClient,
  options: ExecOptions,
  server: PlacedOptions,
): Promise<OpenedThread> {
  const budget = options.limits === undefined ? {} : { budget: { turn: options.limits } };
  const { cwd } = server;
  if (options.thread === undefined) {
    const thread = await client.startThread({ cwd, ...(options.ephemeral ? { ephemeral: true } : {}) });
    return { thread, takenUp: undefined, overrides: budget };
  }
  const known =
    options.thread === "newest"
      ? await newestThread(client, cwd)
      : await findThread(client, options.thread.reference, cwd);
  const thread = await client.attachThread(known.id);
  const { state } = thread;
  const takenUp = {
    type: "thread/started",
    data: { thread: state.thread, settings: state.settings },
  } as const;
  return { thread, takenUp, overrides: { ...chosenSettings(options.server, server), ...budget } };
}

/** Only what was given: a thread keeps the rest as it is. */
function chosenSettings(given: ExecOptions["server"], server: PlacedOptions): TurnOverrides {
  const { model, approvalPolicy, sandboxPolicy, cwd } = server;
  return {
    ...(given.model === undefined || model === undefined ? {} : { model }),
    ...(given.approval === undefined || approvalPolicy === undefined ? {} : { approvalPolicy }),
    ...(given.sandbox === undefined || sandboxPolicy === undefined ? {} : { sandboxPolicy }),
    ...(given.cwd === undefined ? {} : { cwd }),
  };
}
