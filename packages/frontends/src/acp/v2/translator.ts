import type { SessionUpdate } from "@agentclientprotocol/sdk/experimental/v2";
import {
  type DeltaBody,
  type Item,
  isDelta,
  isKnownItem,
  type ThreadEvent,
  type ThreadItem,
  type Turn,
} from "@flint/protocol";
import { blocksOf, textBlock } from "../views/content.ts";
import { toolView } from "../views/tool-view.ts";
import { terminalChunk, toolCallUpdates } from "./tool-calls.ts";
import { idle, info, notice, plan, REQUIRES_ACTION, RUNNING, usage } from "./updates.ts";

/** As `Translated`, in the words of this version. */
interface V2Translated {
  readonly key?: string;
  updates(): readonly SessionUpdate[];
}

type Speaking = "agent_message" | "agent_thought";

const NOTHING: V2Translated = { updates: () => [] };

/** What happens in one thread as updates of the second version. Remembers what the client has of the running turn. */
export class V2Translator {
  /** Where the agent works, so that it is known which files it means. */
  cwd = "";
  /** How much of each text the client has, by item. */
  readonly #told = new Map<string, number>();
  readonly #knownTools = new Set<string>();
  /** The questions that are open. */
  readonly #open = new Set<string>();
  #hasSpoken = false;

  knowsTool(itemId: string): boolean {
    return this.#knownTools.has(itemId);
  }

  toldOfTool(itemId: string): void {
    this.#knownTools.add(itemId);
  }

  translate(event: ThreadEvent): V2Translated {
    if (isDelta(event)) return this.#delta(event);
    switch (event.type) {
      case "turn/started":
        return same("running", () => [RUNNING]);
      case "item/started":
        return this.#started(event.data.item);
      case "item/completed":
        return this.#completed(event.data.item);
      case "approval/requested":
        return this.#asked(event.data.approval.id);
      case "question/requested":
        return this.#asked(event.data.request.id);
      case "approval/resolved":
        return this.#answered(event.data.approvalId);
      case "question/resolved":
        return this.#answered(event.data.questionId);
      case "turn/completed":
        this.#forgetTurn();
        return same("ended", () => [info(undefined, event.at), idle(event.data.turn)]);
      case "turn/plan/updated":
        return same("plan", () => [plan(event.data.turnId, event.data.plan)]);
      case "thread/tokenUsage/updated":
        return same("usage", () => [usage(event.data)]);
      case "thread/name/updated":
        return same("name", () => [info(event.data.name, event.at)]);
      case "error":
        return event.data.willRetry
          ? same("retry", () => [notice("warning", event.data.error.message)])
          : NOTHING;
      case "warning":
        return same("warning", () => [notice("warning", event.data.message)]);
      case "model/rerouted": {
        const { fromModel, toModel, reason } = event.data;
        return same("rerouted", () => [
          notice("info", `${toModel} works in the place of ${fromModel}: ${reason}`),
        ]);
      }
      default:
        return NOTHING;
    }
  }

  history(turns: readonly Turn[]): readonly SessionUpdate[] {
    return turns.flatMap((turn) => {
      const updates = turn.items.flatMap((item) => this.#replayed(turn.id, item));
      const failed = turn.error === undefined ? [] : [notice("error", turn.error.message)];
      if (turn.status !== "inProgress") this.#forgetTurn();
      return [...updates, ...failed];
    });
  }

  #asked(id: string): V2Translated {
    this.#open.add(id);
    return same("asked", () => [REQUIRES_ACTION]);
  }

  #answered(id: string): V2Translated {
    this.#open.delete(id);
    return this.#open.size > 0 ? NOTHING : same("goes on", () => [RUNNING]);
  }

  #delta({ type, data }: DeltaBody & { at: number }): V2Translated {
    const { itemId, delta, offset } = data;
    const kind = CHUNKS[type];
    if (kind === undefined) return NOTHING;
    const fresh = this.#fresh(itemId, kind.field, delta, offset);
    const updates = () => (fresh === "" ? [] : [kind.make(itemId, fresh)]);
    return fresh.length === delta.length ? { key: "delta", updates } : { updates };
  }

  #fresh(itemId: string, field: string, delta: string, offset: number): string {
    const key = `${itemId} ${field}`;
    const told = this.#told.get(key) ?? 0;
    this.#told.set(key, Math.max(told, offset + delta.length));
    if (field === "text") this.#hasSpoken = true;
    return delta.slice(Math.max(0, told - offset));
  }

  #replayed(turnId: string, item: ThreadItem): readonly SessionUpdate[] {
    if (isKnownItem(item) && item.type === "plan" && item.entries !== undefined) {
      return [plan(turnId, item.entries)];
    }
    const isWhole = isKnownItem(item) && !isToolItem(item);
    return [...(isWhole ? this.#started(item).updates() : []), ...this.#completed(item).updates()];
  }

  #started(item: ThreadItem): V2Translated {
    if (!isKnownItem(item)) return NOTHING;
    switch (item.type) {
      case "plan":
        // A list of tasks is told with each update of the plan; only what is proposed in words is said.
        if (item.entries !== undefined) return NOTHING;
        return this.#whole("agent_message", item.id, "text", item.text);
      case "agentMessage":
        return this.#whole("agent_message", item.id, "text", item.text);
      case "reasoning":
        return this.#reasoning(item);
      case "contextCompaction":
        return same("compacting", () => [
          { sessionUpdate: "compaction_update", compactionId: item.id, status: "in_progress" },
        ]);
      case "userMessage":
      case "enteredReviewMode":
      case "exitedReviewMode":
        return NOTHING;
      default:
        return this.#tool(item);
    }
  }

  #completed(item: ThreadItem): V2Translated {
    if (!isKnownItem(item)) return this.#tool(item);
    switch (item.type) {
      case "userMessage":
        return same("user", () => [
          { sessionUpdate: "user_message", messageId: item.id, content: blocksOf(item.content) },
        ]);
      case "plan":
      case "agentMessage":
      case "reasoning":
        return this.#started(item);
      case "enteredReviewMode":
        return this.#whole("agent_thought", item.id, "review", `Review: ${item.review}`);
      case "exitedReviewMode":
        return this.#hasSpoken ? NOTHING : this.#whole("agent_message", item.id, "text", item.review);
      case "contextCompaction":
        return same("compacted", () => [compacted(item)]);
      default:
        return this.#tool(item);
    }
  }

  /** A text as a whole, if the client has less of it than there is. */
  #whole(sessionUpdate: Speaking, id: string, field: string, text: string): V2Translated {
    const told = this.#told.get(`${id} ${field}`) ?? 0;
    if (text.length <= told) return NOTHING;
    this.#fresh(id, field, text, 0);
    const message = { messageId: id, content: [textBlock(text)] };
    const update: SessionUpdate =
      sessionUpdate === "agent_message" ? { sessionUpdate, ...message } : { sessionUpdate, ...message };
    return { key: `whole ${told}`, updates: () => [update] };
  }

  /** Both texts of a thought, if the client has less of one of them than there is. */
  #reasoning({ id, summary = "", content = "" }: Item<"reasoning">): V2Translated {
    const told = {
      summary: this.#told.get(`${id} summary`) ?? 0,
      content: this.#told.get(`${id} content`) ?? 0,
    };
    if (summary.length <= told.summary && content.length <= told.content) return NOTHING;
    this.#fresh(id, "summary", summary, 0);
    this.#fresh(id, "content", content, 0);
    const blocks = [summary, content].filter((text) => text !== "").map(textBlock);
    return {
      key: `thought ${told.summary} ${told.content}`,
      updates: () => [{ sessionUpdate: "agent_thought", messageId: id, content: blocks }],
    };
  }

  #tool(item: ThreadItem): V2Translated {
    const view = toolView(item, this.cwd);
    if (view === undefined) return NOTHING;
    const isNew = !this.#knownTools.has(view.id);
    this.#knownTools.add(view.id);
    return same(isNew ? "new" : "changed", () => toolCallUpdates(view, isNew));
  }

  #forgetTurn(): void {
    this.#told.clear();
    this.#knownTools.clear();
    this.#open.clear();
    this.#hasSpoken = false;
  }
}

function isToolItem(item: ThreadItem): boolean {
  return toolView(item) !== undefined;
}

function compacted({ id, summary }: Item<"contextCompaction">): SessionUpdate {
  const told = summary === undefined ? {} : { summary: [textBlock(summary)] };
  return { sessionUpdate: "compaction_update", compactionId: id, status: "completed", ...told };
}

/** Clients of this version all get the same. */
function same(what: string, updates: () => readonly SessionUpdate[]): V2Translated {
  return { key: `2 ${what}`, updates };
}

interface Chunk {
  readonly field: string;
  make(itemId: string, text: string): SessionUpdate;
}

function speaking(sessionUpdate: "agent_message_chunk" | "agent_thought_chunk"): Chunk["make"] {
  return (messageId, text) => {
    const chunk = { messageId, content: textBlock(text) };
    return sessionUpdate === "agent_message_chunk"
      ? { sessionUpdate, ...chunk }
      : { sessionUpdate, ...chunk };
  };
}

/** Which pieces of text become which chunks; what is missing here is not told piece by piece. */
const CHUNKS: Readonly<Partial<Record<DeltaBody["type"], Chunk>>> = {
  "item/agentMessage/delta": { field: "text", make: speaking("agent_message_chunk") },
  "item/plan/delta": { field: "text", make: speaking("agent_message_chunk") },
  "item/reasoning/textDelta": { field: "content", make: speaking("agent_thought_chunk") },
  "item/reasoning/summaryTextDelta": { field: "summary", make: speaking("agent_thought_chunk") },
  "item/commandExecution/outputDelta": { field: "output", make: terminalChunk },
};
