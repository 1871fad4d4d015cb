import {
  type EventBody,
  emptyThread,
  FlintError,
  isKnownItem,
  mintId,
  type NotSaved,
  reduceThread,
  type StoredEvent,
  type Turn,
} from "@flint/protocol";
import { isTrustedCommand } from "../approval/trusted-commands.ts";
import type { Checkpoints, FilesPreview, Store } from "../ports/index.ts";
import type { ThreadContext } from "./handler.ts";

/** Options of a revert. */
export interface RevertOptions {
  readonly files?: "keep" | "restore" | undefined;
  readonly preview?: boolean | undefined;
}

/** With more text than this, turns are restored without their items, which clients then read. */
const MAX_TURN_TEXT = 1024 * 1024;

/** Reverts turns, and restores their files if requested. */
export async function revertTurns(context: ThreadContext, reverted: readonly Turn[], options: RevertOptions) {
  const { thread, services } = context;
  const turnIds = reverted.map((turn) => turn.id);
  const described = thread.log.state.thread;
  if (options.preview === true) {
    const checkpoints = expectCheckpoints(services.options.checkpoints);
    const preview = await checkpoints.preview({ threadId: thread.id, turnIds, cwd: described.cwd });
    return { result: { thread: described, turnIds, ...fileResults(preview, reverted) } };
  }
  const revertId = mintId(services.options.clock.now());
  const files = await restoredFiles(context, reverted, options, revertId);
  // The agent's session contains the reverted turns, so a new one starts from the shorter history.
  await thread.closeSession();
  const { id: threadId } = thread;
  const forgotten = Object.keys(thread.log.state.nativeIds).map((agent) => sessionEvent(threadId, agent, ""));
  const data = {
    threadId,
    turnIds,
    revertId,
    ...(options.files === undefined ? {} : { files: options.files }),
  };
  const events: EventBody[] = [{ type: "thread/reverted", data }, ...forgotten];
  return { result: { thread: thread.log.state.thread, turnIds, revertId, ...files }, events };
}

async function restoredFiles(
  { thread, services }: ThreadContext,
  reverted: readonly Turn[],
  { files = "keep" }: RevertOptions,
  revertId: string,
) {
  if (files === "keep") return {};
  const checkpoints = expectCheckpoints(services.options.checkpoints);
  const { cwd } = thread.log.state.thread;
  const turnIds = reverted.map((turn) => turn.id);
  return fileResults(await checkpoints.restore({ threadId: thread.id, turnIds, cwd }, revertId), reverted);
}

/** Undoes a revert: its files, and its turns unless the conversation has continued. */
export async function undoRevert(context: ThreadContext, revertId: string) {
  const { thread, services } = context;
  thread.turns.rejectIfActive();
  const store = services.registry.storeOf(thread.id);
  const found = await findRevert(store, thread.id, revertId);
  const { cwd } = thread.log.state.thread;
  const undone = await services.options.checkpoints?.undo(thread.id, revertId, cwd);
  const { files, conflicts, notSaved } = undone ?? NOTHING;
  const outcome = { files: [...files], conflicts: [...conflicts], notSaved: [...notSaved] };
  const turns = found.isLatest ? await droppedTurns(store, thread.id, new Set(found.turnIds)) : [];
  const turnIds = turns.map((turn) => turn.id);
  const result = { thread: thread.log.state.thread, turnIds, ...outcome };
  if (turns.length === 0) return { result };
  await thread.closeSession();
  const back: EventBody = {
    type: "thread/revert/undone",
    data: { threadId: thread.id, revertId, turns: shortened(turns) },
  };
  // Nothing ran since, so the agents' own sessions match the conversation again.
  const sessions = [...found.nativeIds].map(([agent, nativeId]) => sessionEvent(thread.id, agent, nativeId));
  return { result, events: [back, ...sessions] };
}

const NOTHING = { files: [], conflicts: [], notSaved: [] };

interface FoundRevert {
  readonly turnIds: readonly string[];
  /** True if the conversation has not changed since. */
  readonly isLatest: boolean;
  /** The agents' own sessions at that time. */
  readonly nativeIds: ReadonlyMap<string, string>;
}

/** Reads the whole log, which is rarely needed. */
async function findRevert(store: Store, threadId: string, revertId: string): Promise<FoundRevert> {
  let found: Pick<FoundRevert, "turnIds" | "nativeIds"> | undefined;
  let hasMovedOn = false;
  const nativeIds = new Map<string, string>();
  const later = new Set<string>();
  for await (const event of store.read(threadId)) {
    if (event.type === "thread/session/updated") nativeIds.set(event.data.agent, event.data.nativeId);
    else if (event.type === "thread/reverted" && event.data.revertId === revertId) {
      found = { turnIds: event.data.turnIds, nativeIds: new Map(nativeIds) };
    } else if (found === undefined) continue;
    else if (event.type === "turn/started") hasMovedOn = true;
    else if (event.type === "thread/reverted") later.add(event.data.revertId ?? "");
    else if (event.type === "thread/revert/undone") {
      if (event.data.revertId === revertId) hasMovedOn = true;
      later.delete(event.data.revertId);
    }
  }
  if (found !== undefined) return { ...found, isLatest: !hasMovedOn && later.size === 0 };
  const message = `The thread has no revert ${revertId}; use the revertId that thread/revert gave.`;
  throw new FlintError("invalidParams", message, { field: "revertId" });
}

/** Reverted turns with all their items, as they were before. */
async function droppedTurns(
  store: Store,
  threadId: string,
  turnIds: ReadonlySet<string>,
): Promise<readonly Turn[]> {
  let state = emptyThread(threadId);
  for await (const event of store.read(threadId)) {
    const turnId = turnIdOf(event);
    if (turnId !== undefined && turnIds.has(turnId)) state = reduceThread(state, event);
  }
  return state.turns;
}

function turnIdOf(event: StoredEvent): string | undefined {
  switch (event.type) {
    case "turn/started":
    case "turn/completed":
      return event.data.turn.id;
    case "item/started":
    case "item/completed":
      return event.data.turnId;
    default:
      return undefined;
  }
}

function shortened(turns: readonly Turn[]): Turn[] {
  if (JSON.stringify(turns).length <= MAX_TURN_TEXT) return [...turns];
  return turns.map((turn) => ({ ...turn, items: [], itemsView: "notLoaded" }));
}

function fileResults({ files, conflicts, notSaved, savedTurnIds }: FilesPreview, reverted: readonly Turn[]) {
  const unknown = reverted.filter((turn) => !savedTurnIds.includes(turn.id) && mayHaveWritten(turn));
  return {
    files: [...files],
    conflicts: [...conflicts],
    notSaved: [...notSaved, ...unknown.map((turn) => turnNotSaved(turn.id))],
  };
}

/** For turns from before there were checkpoints, or copied from another thread. */
function turnNotSaved(turnId: string): NotSaved {
  const message = "There is no checkpoint of this turn, so its changes stay.";
  return { turnId, reason: "noCheckpoint", message };
}

function mayHaveWritten({ items }: Turn): boolean {
  return items.some((item) => {
    if (!isKnownItem(item)) return false;
    if (item.type === "commandExecution")
      return item.status !== "declined" && !isTrustedCommand(item.command);
    return item.type === "fileChange" && item.status !== "declined";
  });
}

/** Records which session of an agent continues a thread. */
export function sessionEvent(threadId: string, agent: string, nativeId: string): EventBody {
  return { type: "thread/session/updated", data: { threadId, agent, nativeId } };
}

function expectCheckpoints(checkpoints: Checkpoints | undefined): Checkpoints {
  if (checkpoints !== undefined) return checkpoints;
  const message = 'This server has no checkpoints of files. Revert with files: "keep".';
  throw new FlintError("unsupported", message, { field: "files" });
}
