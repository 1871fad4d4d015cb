import { type ParamsInput, type ThreadSettings, threadIdOf } from "@flint/protocol";
import type { AgentEvent, EventListener, FlintClient, ThreadHandle } from "@flint/sdk";
import type { PlacedOptions } from "../../command-line/server-options.ts";
import { findThread, newestThread } from "../threads/thread-reference.ts";
import type { ExecOptions } from "./options.ts";
import { permissionsIn, permissionWarning, turnBudget } from "./settings.ts";

/** The settings of a thread that a turn overrides. */
type TurnOverrides = Pick<
  ParamsInput<"turn/start">,
  "model" | "cwd" | "approvalPolicy" | "sandboxPolicy" | "network" | "git" | "acceptEdits" | "budget"
>;

/** The thread of this run. */
export interface OpenedThread {
  readonly thread: ThreadHandle;
  /** The `thread/started` event of a resumed thread, for views; the server does not send one. */
  readonly resumed: AgentEvent | undefined;
  readonly overrides: TurnOverrides;
  /** The settings of its turn. */
  readonly settings: ThreadSettings;
  /** Printed before anything else. */
  readonly notices: readonly string[];
}

/** Starts a thread, or resumes the requested one. A shared server has settings of its own, so all are sent to it. */
export async function openThread(
  client: FlintClient,
  options: ExecOptions,
  server: PlacedOptions,
  isShared = false,
): Promise<OpenedThread> {
  return options.thread === undefined
    ? startThread(client, options, { cwd: server.cwd, ...(isShared ? await settingsFor(server) : {}) })
    : resumeThread(client, options, options.thread, server);
}

async function startThread(
  client: FlintClient,
  options: ExecOptions,
  settings: ParamsInput<"thread/start">,
): Promise<OpenedThread> {
  const { ephemeral, limits, enforcement, developerInstructions } = options;
  const hasLimits = limits !== undefined || enforcement !== undefined;
  const thread = await client.startThread({
    ...settings,
    ...(ephemeral ? { ephemeral: true } : {}),
    ...(developerInstructions === undefined ? {} : { developerInstructions }),
  });
  const { settings: current } = thread.state;
  return {
    thread,
    settings: current,
    resumed: undefined,
    overrides: hasLimits ? { budget: turnBudget(current.budget, options, current.budget) } : {},
    notices: noticesFor(current),
  };
}

/** The settings that a new thread would have in a server of this process. */
async function settingsFor(server: PlacedOptions): Promise<ParamsInput<"thread/start">> {
  const { sandboxPolicy, budget, model, ...permissions } = await permissionsIn(server.cwd, server);
  return {
    ...permissions,
    sandbox: sandboxPolicy,
    ...(model === undefined ? {} : { model }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/**
 * A resumed thread keeps its model and its folder, but not its permissions: an option of an earlier run must not apply to
 * a run without it.
 */
async function resumeThread(
  client: FlintClient,
  options: ExecOptions,
  requested: NonNullable<ExecOptions["thread"]>,
  server: PlacedOptions,
): Promise<OpenedThread> {
  const known =
    requested === "newest"
      ? await newestThread(client, server.cwd)
      : await findThread(client, requested.reference, server.cwd);
  const thread = await client.attachThread(known.id);
  const { state } = thread;
  const moved = options.server.cwd === undefined ? {} : { cwd: server.cwd };
  const cwd = moved.cwd ?? state.settings.cwd;
  const { budget, model: _model, ...policies } = await permissionsIn(cwd, server);
  const away = cwd === server.cwd ? [] : [`This thread works in ${cwd}.`];
  return {
    thread,
    settings: { ...state.settings, ...chosenModel(server), ...policies },
    resumed: { type: "thread/started", data: { thread: state.thread, settings: state.settings } },
    overrides: {
      ...chosenModel(server),
      ...moved,
      ...policies,
      budget: turnBudget(budget, options, state.settings.budget),
    },
    notices: [...noticesFor(policies), ...away],
  };
}

/** The model, if one was given: a thread keeps its own otherwise. */
function chosenModel({ model, chosen = [] }: PlacedOptions): { readonly model?: string } {
  return model !== undefined && chosen.includes("model") ? { model } : {};
}

function noticesFor(settings: Pick<ThreadSettings, "approvalPolicy" | "sandboxPolicy">): string[] {
  const warning = permissionWarning(settings);
  return warning === undefined ? [] : [warning];
}

/**
 * The events of one thread until its turn has ended. It is subscribed before the thread has an id, because the first
 * events can arrive before the response that has it.
 */
export class ThreadFeed implements EventListener {
  readonly #show: (event: AgentEvent) => void;
  #early: AgentEvent[] = [];
  #threadId: string | undefined;
  #over = false;

  constructor(show: (event: AgentEvent) => void) {
    this.#show = show;
  }

  /** Passes on the events of this thread, starting with those that have already arrived. */
  start(threadId: string): void {
    this.#threadId = threadId;
    for (const event of this.#early) this.#pass(event);
    this.#early = [];
  }

  event(event: AgentEvent): void {
    if (this.#threadId === undefined) this.#early.push(event);
    else this.#pass(event);
  }

  ended(): void {}

  #pass(event: AgentEvent): void {
    if (this.#over || idOf(event) !== this.#threadId) return;
    this.#over = event.type === "turn/completed";
    this.#show(event);
  }
}

function idOf(event: AgentEvent): string | undefined {
  if (event.type !== "unknown") return threadIdOf(event);
  const { params } = event;
  const has = typeof params === "object" && params !== null && "threadId" in params;
  return has && typeof params.threadId === "string" ? params.threadId : undefined;
}
