import type { Cost, PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import {
  type EventData,
  type Item,
  inputText,
  type PlanEntry as PlanStep,
  totalTokens,
} from "@flint/protocol";
import type { ClientAbilities } from "../capabilities.ts";
import { blocksOf, textBlock } from "../views/content.ts";

type ChunkKind = "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk";

/** A piece of what somebody says or thinks. */
export function chunk(sessionUpdate: ChunkKind, messageId: string, text: string): SessionUpdate {
  return { sessionUpdate, messageId, content: textBlock(text) };
}

/** What a user sent from elsewhere. */
export function userChunks({ id, content }: Item<"userMessage">): SessionUpdate[] {
  return blocksOf(content).map((block) => ({
    sessionUpdate: "user_message_chunk",
    messageId: id,
    content: block,
  }));
}

/** The whole plan. */
export function planUpdate(steps: readonly PlanStep[]): SessionUpdate {
  return { sessionUpdate: "plan", entries: steps.map(planEntry) };
}

/** Few agents say how much a step matters. The protocol has no failed steps, so the words say it. */
function planEntry(
  { step, status, priority = "medium" }: PlanStep,
  index: number,
): PlanEntry & { id: string } {
  const entry = { id: String(index + 1), priority };
  if (status === "failed") return { ...entry, content: `${step} (failed)`, status: "completed" };
  return { ...entry, content: step, status: status === "inProgress" ? "in_progress" : status };
}

/** How full the context is, and what the thread cost. A window that nobody knows has the size 0. */
export function usageUpdate(data: EventData<"thread/tokenUsage/updated">): SessionUpdate {
  const { last, modelContextWindow = 0, cost } = data;
  const told: { cost?: Cost } =
    cost === undefined ? {} : { cost: { amount: cost.amount, currency: cost.currency } };
  return { sessionUpdate: "usage_update", used: totalTokens(last), size: modelContextWindow, ...told };
}

/** A notice; to a client without notices a thought, which it shows without taking it for the answer. */
export function noticeUpdate(
  severity: "info" | "warning" | "error",
  title: string,
  { notices }: ClientAbilities,
): SessionUpdate {
  if (notices) return { sessionUpdate: "notice", severity, title };
  return { sessionUpdate: "agent_thought_chunk", content: textBlock(`${title}\n`) };
}

/** The name of a session and when it was last used. */
export function infoUpdate(title: string | undefined, at: number): SessionUpdate {
  const updatedAt = new Date(at).toISOString();
  return { sessionUpdate: "session_info_update", ...(title === undefined ? {} : { title }), updatedAt };
}

/** The name of a thread that nobody named: how its first prompt begins. */
export function titleFrom(item: Item<"userMessage">): string {
  const text = inputText(item.content).trim().replace(/\s+/g, " ");
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
