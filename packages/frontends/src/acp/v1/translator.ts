import type { SessionUpdate } from "@agentclientprotocol/sdk";
import {
  type DeltaBody,
  type Item,
  isDelta,
  isKnownItem,
  type ThreadEvent,
  type ThreadItem,
  type Turn,
} from "@flint/protocol";
import { type ClientAbilities, encodingKey } from "../capabilities.ts";
import type { IsOwn } from "../protocol-version.ts";
import { textBlock } from "../views/content.ts";
import { OutputWindow } from "../views/output-window.ts";
import { toolView } from "../views/tool-view.ts";
import { changedToolCall, newToolCall, outputSoFar, terminalPiece } from "./tool-calls.ts";
import { chunk, infoUpdate, noticeUpdate, planUpdate, usageUpdate, userChunks } from "./updates.ts";

/** As `Translated`, in the words of this version. */
interface V1Translated {
  readonly key?: string;
  updates(): readonly SessionUpdate[];
}

const NOTHING: V1Translated = { updates: () => [] };

/**
 * What happens in one thread as updates for one client. Remembers what the client has been told of the running turn, so
 * that nothing comes twice and nothing is left out.
 */
export class V1Translator {
  /** Where the agent works, so that it is known which files it means. */
  cwd = "";
  readonly #abilities: ClientAbilities;
  readonly #key: string;
  /** How much of each text the client has, by item. */
  readonly #told = new Map<string, number>();
  readonly #knownTools = new Set<string>();
  readonly #outputs = new Map<string, OutputWindow>();
  #hasSpoken = false;

  constructor(abilities: ClientAbilities) {
    this.#abilities = abilities;
    this.#key = encodingKey(abilities);
  }

  /** Whether the client knows of a tool call. */
  knowsTool(itemId: string): boolean {
    return this.#knownTools.has(itemId);
  }

  /** The client was told of a tool call by other means. */
  toldOfTool(itemId: string): void {
    this.#knownTools.add(itemId);
  }

  /** What an event means for this client. `isOwn`: the client sent this message itself. */
  translate(event: ThreadEvent, isOwn: IsOwn): V1Translated {
    if (isDelta(event)) return this.#delta(event);
    switch (event.type) {
      case "item/started":
        return this.#started(event.data.item);
      case "item/completed":
        return this.#completed(event.data.item, isOwn);
      case "turn/completed":
        this.#forgetTurn();
        return this.#same("turn", () => [infoUpdate(undefined, event.at)]);
      case "turn/plan/updated":
        return this.#same("plan", () => [planUpdate(event.data.plan)]);
      case "thread/tokenUsage/updated":
        return this.#same("usage", () => [usageUpdate(event.data)]);
      case "thread/name/updated":
        return this.#same("name", () => [infoUpdate(event.data.name, event.at)]);
      case "error":
        return event.data.willRetry ? this.#notice("warning", event.data.error.message) : NOTHING;
      case "warning":
        return this.#notice("warning", event.data.message);
      case "model/rerouted": {
        const { fromModel, toModel, reason } = event.data;
        return this.#notice("info", `${toModel} works in the place of ${fromModel}: ${reason}`);
      }
      default:
        return NOTHING;
    }
  }

  /** Turns of the past, and the items of the running one as they are now. */
  history(turns: readonly Turn[]): readonly SessionUpdate[] {
    return turns.flatMap((turn) => {
      const updates = turn.items.flatMap((item) => this.#replayed(item));
      const failed = turn.error === undefined ? [] : [this.#failure(turn.error.message)];
      if (turn.status !== "inProgress") this.#forgetTurn();
      return [...updates, ...failed];
    });
  }

  #failure(message: string): SessionUpdate {
    return noticeUpdate("error", message, this.#abilities);
  }

  #replayed(item: ThreadItem): readonly SessionUpdate[] {
    if (!isKnownItem(item)) return this.#toolUpdate(item).updates();
    if (item.type === "userMessage") return userChunks(item);
    if (item.type === "plan" && item.entries !== undefined) return [planUpdate(item.entries)];
    if (toolView(item) !== undefined) return this.#toolUpdate(item).updates();
    return [...this.#started(item).updates(), ...this.#completed(item, () => true).updates()];
  }

  #delta({ type, data }: DeltaBody & { at: number }): V1Translated {
    const { itemId, delta, offset } = data;
    if (type === "item/commandExecution/outputDelta") return this.#output(itemId, delta, offset);
    const kind = CHUNKS[type];
    if (kind === undefined) return NOTHING;
    const told = this.#told.get(`${itemId} ${kind.field}`) ?? 0;
    const fresh = delta.slice(Math.max(0, told - offset));
    if (fresh === "") return NOTHING;
    this.#toldText(itemId, kind.field, offset + delta.length);
    const updates = () => [chunk(kind.update, itemId, fresh)];
    return fresh.length === delta.length ? { key: "delta", updates } : { updates };
  }

  #output(itemId: string, delta: string, offset: number): V1Translated {
    if (this.#abilities.terminalOutput) return this.#terminalOutput(itemId, delta, offset);
    const window = this.#outputs.get(itemId) ?? new OutputWindow();
    this.#outputs.set(itemId, window);
    return window.add(delta, offset) ? { updates: () => [outputSoFar(itemId, window.text)] } : NOTHING;
  }

  #terminalOutput(itemId: string, delta: string, offset: number): V1Translated {
    const told = this.#told.get(`${itemId} output`) ?? 0;
    const fresh = delta.slice(Math.max(0, told - offset));
    this.#toldText(itemId, "output", offset + delta.length);
    const updates = () => (fresh === "" ? [] : [terminalPiece(itemId, fresh)]);
    return fresh.length === delta.length ? { key: "terminal", updates } : { updates };
  }

  #started(item: ThreadItem): V1Translated {
    if (!isKnownItem(item)) return NOTHING;
    switch (item.type) {
      case "agentMessage":
        return this.#rest(item.id, "text", "agent_message_chunk", item.text);
      case "plan":
        // A list of tasks is told with each update of the plan; only what is proposed in words is said.
        if (item.entries !== undefined) return NOTHING;
        return this.#rest(item.id, "text", "agent_message_chunk", item.text);
      case "reasoning":
        return this.#reasoning(item);
      case "enteredReviewMode":
        return this.#same("review", () => [
          chunk("agent_thought_chunk", item.id, `Review: ${item.review}\n`),
        ]);
      case "contextCompaction":
        return this.#compaction(item, "in_progress");
      case "userMessage":
      case "exitedReviewMode":
        return NOTHING;
      default:
        return this.#toolUpdate(item);
    }
  }

  #completed(item: ThreadItem, isOwn: IsOwn): V1Translated {
    if (!isKnownItem(item)) return this.#toolUpdate(item);
    switch (item.type) {
      case "userMessage":
        return isOwn(item) ? NOTHING : this.#same("user", () => userChunks(item));
      case "plan":
      case "agentMessage":
      case "reasoning":
        return this.#started(item);
      case "enteredReviewMode":
        return NOTHING;
      case "exitedReviewMode":
        return this.#hasSpoken ? NOTHING : this.#rest(item.id, "text", "agent_message_chunk", item.review);
      case "contextCompaction":
        return this.#compaction(item, "completed");
      default:
        return this.#toolUpdate(item);
    }
  }

  /** What the client does not have yet of a text; all of it if the agent told it in one piece. */
  #rest(itemId: string, field: string, update: ChunkUpdate, text: string): V1Translated {
    const told = this.#told.get(`${itemId} ${field}`) ?? 0;
    if (text.length <= told) return NOTHING;
    this.#toldText(itemId, field, text.length);
    return { key: `${field} ${told}`, updates: () => [chunk(update, itemId, text.slice(told))] };
  }

  #reasoning({ id, summary = "", content = "" }: Item<"reasoning">): V1Translated {
    const parts = [
      this.#rest(id, "summary", "agent_thought_chunk", summary),
      this.#rest(id, "content", "agent_thought_chunk", content),
    ];
    return { updates: () => parts.flatMap((part) => part.updates()) };
  }

  #toldText(itemId: string, field: string, length: number): void {
    const key = `${itemId} ${field}`;
    this.#told.set(key, Math.max(this.#told.get(key) ?? 0, length));
    if (field === "text") this.#hasSpoken = true;
  }

  #toolUpdate(item: ThreadItem): V1Translated {
    const view = toolView(item, this.cwd);
    if (view === undefined) return NOTHING;
    const isKnown = this.#knownTools.has(view.id);
    this.#knownTools.add(view.id);
    const showing = { terminals: this.#abilities.terminalOutput };
    const make = isKnown ? changedToolCall : newToolCall;
    return this.#same(isKnown ? "changed" : "new", () => [make(view, showing)]);
  }

  #compaction({ id, summary }: Item<"contextCompaction">, status: "in_progress" | "completed"): V1Translated {
    if (!this.#abilities.compaction) {
      if (status === "in_progress") return NOTHING;
      return this.#same("compacted", () => [
        chunk("agent_message_chunk", id, "The conversation so far was summarised to make room.\n"),
      ]);
    }
    const told = summary === undefined || status === "in_progress" ? {} : { summary: [textBlock(summary)] };
    return this.#same(status, () => [
      { sessionUpdate: "compaction_update", compactionId: id, status, ...told },
    ]);
  }

  #notice(severity: "info" | "warning", title: string): V1Translated {
    return this.#same("notice", () => (title === "" ? [] : [noticeUpdate(severity, title, this.#abilities)]));
  }

  #same(what: string, updates: () => readonly SessionUpdate[]): V1Translated {
    return { key: `${what} ${this.#key}`, updates };
  }

  #forgetTurn(): void {
    this.#told.clear();
    this.#knownTools.clear();
    this.#outputs.clear();
    this.#hasSpoken = false;
  }
}

type ChunkUpdate = "agent_message_chunk" | "agent_thought_chunk";

/** Which pieces of text become which chunks; what is missing here is not told piece by piece. */
const CHUNKS: Readonly<Partial<Record<DeltaBody["type"], { field: string; update: ChunkUpdate }>>> = {
  "item/agentMessage/delta": { field: "text", update: "agent_message_chunk" },
  "item/plan/delta": { field: "text", update: "agent_message_chunk" },
  "item/reasoning/textDelta": { field: "content", update: "agent_thought_chunk" },
  "item/reasoning/summaryTextDelta": { field: "summary", update: "agent_thought_chunk" },
};
