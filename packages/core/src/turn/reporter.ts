import {
  type AgentCommand,
  type Allowance,
  addCost,
  addUsage,
  type Cost,
  type EventBody,
  type FileUpdateChange,
  type Item,
  isKnownItem,
  type KnownItem,
  mintId,
  persistenceOf,
  type ThreadItem,
  type ThreadState,
  type TokenUsage,
  type Turn,
} from "@flint/protocol";
import type { DecidedConnection } from "../approval/network-gate.ts";
import type { DriverEvent } from "../ports/index.ts";
import { wellFormed } from "../text/characters.ts";
import { commandActions } from "../text/command-actions.ts";
import type { ThreadLog } from "../thread/log.ts";
import { TurnCaps } from "./turn-caps.ts";

/** The turn of a driver's event, and the totals it adds to. */
interface EventContext {
  readonly threadId: string;
  readonly turnId: string;
  readonly agent: string;
  /** The usage of the thread so far. */
  readonly usage: TokenUsage;
  /** Its cost so far, with what is only estimated. */
  readonly cost: Cost | undefined;
  readonly caps: TurnCaps;
}

/** The reports that become an event at once; the rest is only for the runner of the turn. */
export type ReportedEvent = Exclude<DriverEvent, { type: "position" | "costSoFar" | "limits" }>;

/** The same without streamed text. */
type ReportedItemEvent = Exclude<ReportedEvent, { delta: string }>;

/** The parts of its turn that a reporter uses. */
export interface TurnReporterOptions {
  readonly threadId: string;
  readonly turnId: string;
  readonly log: ThreadLog;
  /** The connections that were decided about while the command of an item ran. */
  connectionsOf(itemId: string): readonly DecidedConnection[];
  /** Returns the allowance of an item's action. */
  allowanceOf(itemId: string): Allowance | undefined;
  /** Returns the cost of the turn so far; undefined if it is unknown. */
  costOfTurn(): Cost | undefined;
  /** Called with what the log throws, which a driver must not see. */
  onError(error: unknown): void;
}

/** Writes what a driver reports into the log: as events of its turn, well-formed and within the limits. */
export class TurnReporter {
  readonly #options: TurnReporterOptions;
  readonly #caps = new TurnCaps();
  readonly #costBefore: Cost | undefined;
  #hasOwnDiff = false;

  constructor(options: TurnReporterOptions) {
    this.#options = options;
    this.#costBefore = options.log.state.cost;
  }

  /** Writes one report of this agent. Never throws. */
  report(reported: ReportedEvent, agent: string): void {
    if ("delta" in reported) this.#delta(reported);
    else {
      const own = this.#withAllowance(this.#withConnections(wellFormed(reported)));
      this.#whole(withActions(this.#withChildThread(own)), agent);
    }
  }

  #delta({ type, itemId, delta }: Extract<ReportedEvent, { delta: string }>): void {
    const { threadId, turnId, log } = this.#options;
    const admitted = this.#caps.admit(type, itemId, delta);
    if (admitted !== "") log.delta({ type, threadId, turnId, itemId }, admitted);
  }

  #whole(event: ReportedItemEvent, agent: string): void {
    const { threadId, turnId, log } = this.#options;
    const { usage } = log.state;
    if (event.type === "commands" && isKnown(event.commands, log.state.agentCommands, agent)) return;
    const body = eventOf(event, { threadId, turnId, agent, usage, cost: this.#cost(), caps: this.#caps });
    if (persistenceOf(body.type) === "live") log.sendLive(body);
    else this.#store(body);
    if (event.type === "turn/diff/updated") this.#hasOwnDiff = true;
    if (event.type === "item/completed" && isKnownItem(event.item) && isAppliedChange(event.item))
      this.#reportDiff();
  }

  #cost(): Cost | undefined {
    const ofTurn = this.#options.costOfTurn();
    return ofTurn === undefined ? undefined : addCost(this.#costBefore, ofTurn);
  }

  /** A completed command shows which hosts it wanted to connect to. */
  #withConnections(event: ReportedItemEvent): ReportedItemEvent {
    if (event.type !== "item/completed") return event;
    const { item } = event;
    if (!isKnownItem(item) || item.type !== "commandExecution") return event;
    const connections = [...this.#options.connectionsOf(item.id)];
    return connections.length === 0 ? event : { ...event, item: { ...item, connections } };
  }

  /** A command, a file change or a call shows what allowed it. */
  #withAllowance(event: ReportedItemEvent): ReportedItemEvent {
    if (event.type !== "item/started" && event.type !== "item/completed") return event;
    const { item } = event;
    if (!isKnownItem(item) || !isAction(item) || item.status === "declined") return event;
    const allowed = this.#options.allowanceOf(item.id);
    return allowed === undefined ? event : { ...event, item: { ...item, allowed } };
  }

  /** A call that starts a sub-agent names the thread that shows its work. */
  #withChildThread(event: ReportedItemEvent): ReportedItemEvent {
    if (event.type !== "item/started" && event.type !== "item/completed") return event;
    const { item } = event;
    if (!isKnownItem(item) || item.type !== "toolCall" || item.subAgent === undefined) return event;
    const { log, turnId } = this.#options;
    const known = log.state.thread.childThreads?.find(
      (child) => child.turnId === turnId && child.itemId === item.id,
    );
    const threadId = known?.id ?? mintId();
    return { ...event, item: { ...item, subAgent: { ...item.subAgent, threadId } } };
  }

  /** Reports the changes so far as one diff, unless the agent reports its own. */
  #reportDiff(): void {
    const { threadId, turnId, log } = this.#options;
    if (this.#hasOwnDiff) return;
    const running = log.state.turns.findLast((known) => known.id === turnId);
    if (running === undefined) return;
    this.#store({ type: "turn/diff/updated", data: { threadId, turnId, diff: aggregateDiff(running) } });
  }

  #store(body: EventBody): void {
    try {
      void this.#options.log.commit([body]);
    } catch (error) {
      // Expected: the event cannot be stored.
      this.#options.onError(error);
    }
  }
}

/** Maximum number of slash commands of an agent that are kept, and the maximum length of each text. */
const MAX_COMMANDS = 200;
const MAX_COMMAND_TEXT = 300;

function shortCommand({ name, description, hint }: AgentCommand): AgentCommand {
  const short = (text: string) => text.slice(0, MAX_COMMAND_TEXT);
  return {
    name: short(name),
    ...(description === undefined ? {} : { description: short(description) }),
    ...(hint === undefined ? {} : { hint: short(hint) }),
  };
}

/** Reports whether an agent has reported the same commands before. */
function isKnown(
  commands: readonly AgentCommand[],
  known: ThreadState["agentCommands"],
  agent: string,
): boolean {
  const kept = commands.slice(0, MAX_COMMANDS).map(shortCommand);
  return known?.agent === agent && JSON.stringify(known.commands) === JSON.stringify(kept);
}

/** A completed item as the log has it: within the limits of its turn, and with what its command does. */
export function finishedItem(item: ThreadItem, caps: TurnCaps): ThreadItem {
  const bounded = caps.finish(item);
  const event = withActions({ type: "item/completed", item: bounded });
  return event.type === "item/completed" ? event.item : bounded;
}

/** A command shows what it does, as far as its words alone make that certain, unless its agent knows better. */
function withActions(event: ReportedItemEvent): ReportedItemEvent {
  if (event.type !== "item/started" && event.type !== "item/completed") return event;
  const { item } = event;
  if (!isKnownItem(item) || item.type !== "commandExecution") return event;
  if (item.commandActions !== undefined) return event;
  const actions = commandActions(item.command);
  if (actions.some(({ type }) => type === "unknown")) return event;
  return { ...event, item: { ...item, commandActions: [...actions] } };
}

/** A driver's event as an event of its thread. */
function eventOf(
  event: ReportedItemEvent,
  { threadId, turnId, agent, usage, cost, caps }: EventContext,
): EventBody {
  const ids = { threadId, turnId };
  switch (event.type) {
    case "item/started":
      return { type: event.type, data: { ...ids, item: event.item } };
    case "item/completed":
      return { type: event.type, data: { ...ids, item: caps.finish(event.item) } };
    case "turn/plan/updated":
      return { type: event.type, data: { ...ids, explanation: event.explanation, plan: [...event.plan] } };
    case "turn/diff/updated":
      return { type: event.type, data: { ...ids, diff: event.diff } };
    case "item/fileChange/patchUpdated":
      return { type: event.type, data: { ...ids, itemId: event.itemId, changes: [...event.changes] } };
    case "item/mcpToolCall/progress":
      return { type: event.type, data: { ...ids, itemId: event.itemId, message: event.message } };
    case "usage": {
      const { type: _type, last, calls: _calls, cost: _cost, estimate: _estimate, ...rest } = event;
      const total = cost === undefined ? {} : { cost };
      const data = { ...ids, usage: addUsage(usage, last), last, ...rest, ...total };
      return { type: "thread/tokenUsage/updated", data };
    }
    case "error":
      return { type: "error", data: { ...ids, error: event.error, willRetry: event.willRetry } };
    case "model/rerouted": {
      const { type, ...rest } = event;
      return { type, data: { ...ids, ...rest } };
    }
    case "warning": {
      const { message, reason, details } = event;
      const more = details === undefined ? {} : { details };
      return { type: "warning", data: { ...ids, message, reason, ...more } };
    }
    case "commands":
      return {
        type: "thread/commands/updated",
        data: { threadId, agent, commands: event.commands.slice(0, MAX_COMMANDS).map(shortCommand) },
      };
    case "session": {
      const { nativeId, cost } = event;
      const known = cost === undefined ? {} : { cost };
      return { type: "thread/session/updated", data: { threadId, agent, nativeId, ...known } };
    }
    case "extension":
      return {
        type: "extension/notified",
        data: { threadId, method: event.method, params: { ...event.params } },
      };
  }
}

/**
 * All file changes of a turn as one unified diff: file by file in the order of their first change, and change by change
 * within a file, so that applying it from top to bottom gives the result of the turn.
 */
export function aggregateDiff(turn: Turn): string {
  const byPath = new Map<string, string[]>();
  for (const change of turn.items
    .filter(isKnownItem)
    .filter(isAppliedChange)
    .flatMap((item) => item.changes)) {
    const known = byPath.get(change.path);
    if (known === undefined) byPath.set(change.path, [diffText(change)]);
    else known.push(diffText(change));
  }
  return [...byPath.values()].flat().join("");
}

type ActionItem = Item<"commandExecution" | "fileChange" | "mcpToolCall" | "toolCall">;

/** Reports whether an item is an action that is decided about before it is done. */
function isAction(item: KnownItem): item is ActionItem {
  return ["commandExecution", "fileChange", "mcpToolCall", "toolCall"].includes(item.type);
}

function isAppliedChange(item: { type: string; status?: string }): item is Item<"fileChange"> {
  return item.type === "fileChange" && item.status === "completed";
}

function diffText(change: FileUpdateChange): string {
  // Only at the very start: further down, "--- " may be a removed line that began with two dashes.
  const headed = /^(diff |Index: |--- )/.test(change.diff) ? change.diff : `${header(change)}${change.diff}`;
  return headed.endsWith("\n") ? headed : `${headed}\n`;
}

function header(change: FileUpdateChange): string {
  const before = change.kind === "add" ? "/dev/null" : join("a", change.path);
  const after = change.kind === "delete" ? "/dev/null" : join("b", change.movePath ?? change.path);
  return `--- ${before}\n+++ ${after}\n`;
}

function join(side: string, path: string): string {
  return path.startsWith("/") ? `${side}${path}` : `${side}/${path}`;
}
