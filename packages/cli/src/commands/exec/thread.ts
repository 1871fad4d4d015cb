import type { ParamsInput, ThreadSettings } from "@flint/protocol";
import type { AgentEvent, FlintClient, ThreadHandle } from "@flint/sdk";
import type { PlacedOptions } from "../../command-line/server-options.ts";
import { findThread, newestThread } from "../threads/thread-reference.ts";
import type { ExecOptions } from "./options.ts";
import { allowanceIn, boldness, turnBudget } from "./settings.ts";

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
  /** What to say before anything else. */
  readonly remarks: readonly string[];
}

/** Starts a thread, or takes up the one that is meant. */
export async function openThread(
  client: FlintClient,
  options: ExecOptions,
  server: PlacedOptions,
): Promise<OpenedThread> {
  return options.thread === undefined
    ? startThread(client, options, server)
    : takeUpThread(client, options, options.thread, server);
}

async function startThread(
  client: FlintClient,
  { ephemeral, limits, developerInstructions }: ExecOptions,
  { cwd }: PlacedOptions,
): Promise<OpenedThread> {
  const thread = await client.startThread({
    cwd,
    ...(ephemeral ? { ephemeral: true } : {}),
    ...(developerInstructions === undefined ? {} : { developerInstructions }),
  });
  const { settings } = thread.state;
  return {
    thread,
    takenUp: undefined,
    overrides: limits === undefined ? {} : { budget: turnBudget(settings.budget, limits, settings.budget) },
    remarks: remarksOn(settings),
  };
}

/**
 * An old thread keeps its model and its folder. What its agent may do is said anew by each run: a flag of an earlier
 * run must not hold for one that does not have it.
 */
async function takeUpThread(
  client: FlintClient,
  options: ExecOptions,
  wanted: NonNullable<ExecOptions["thread"]>,
  server: PlacedOptions,
): Promise<OpenedThread> {
  const known =
    wanted === "newest"
      ? await newestThread(client, server.cwd)
      : await findThread(client, wanted.reference, server.cwd);
  const thread = await client.attachThread(known.id);
  const { state } = thread;
  const moved = options.server.cwd === undefined ? {} : { cwd: server.cwd };
  const cwd = moved.cwd ?? state.settings.cwd;
  const { budget, ...policies } = await allowanceIn(cwd, server);
  const away = cwd === server.cwd ? [] : [`This thread works in ${cwd}.`];
  return {
    thread,
    takenUp: { type: "thread/started", data: { thread: state.thread, settings: state.settings } },
    overrides: {
      ...chosenModel(server),
      ...moved,
      ...policies,
      budget: turnBudget(budget, options.limits, state.settings.budget),
    },
    remarks: [...remarksOn(policies), ...away],
  };
}

/** Only one that was named: a thread keeps its own. */
function chosenModel({ model, chosen = [] }: PlacedOptions): { readonly model?: string } {
  return model !== undefined && chosen.includes("model") ? { model } : {};
}

function remarksOn(settings: Pick<ThreadSettings, "approvalPolicy" | "sandboxPolicy">): string[] {
  const remark = boldness(settings);
  return remark === undefined ? [] : [remark];
}
