import type { DriverEvent } from "@flint/core/ports";
import { type Item, isKnownItem } from "@flint/protocol";
import { type CodexItem, type CodexNotification, readCodexItem } from "@flint/protocol/codex";
import { itemIdOf } from "./items.ts";

/** Returns the activity of a sub-agent in a notification; undefined if it concerns anything else. */
export function activityIn({ method, params }: CodexNotification): CodexItem<"subAgentActivity"> | undefined {
  if (method !== "item/started" && method !== "item/completed") return undefined;
  const item = readCodexItem(params.item);
  return item?.type === "subAgentActivity" ? item : undefined;
}

/** The call that started a sub-agent. Codex does not report the prompt, only the name that the agent chose. */
export function subAgentCall(
  { id, agentPath }: CodexItem<"subAgentActivity">,
  parentItemId: string | undefined,
): Item<"toolCall"> {
  const title = agentPath.split("/").at(-1) ?? agentPath;
  return {
    ...{ type: "toolCall", id: itemIdOf(id), tool: "spawn_agent", title, status: "inProgress" },
    subAgent: { kind: agentPath },
    ...(parentItemId === undefined ? {} : { parentItemId }),
  };
}

/** The events of a sub-agent as events of the turn it works for: below its call, and not as the agent's own words. */
export function nestedEvents(events: readonly DriverEvent[], parentItemId: string): readonly DriverEvent[] {
  return events.flatMap((event) => nestedEvent(event, parentItemId));
}

function nestedEvent(event: DriverEvent, parentItemId: string): readonly DriverEvent[] {
  switch (event.type) {
    case "item/started":
    case "item/completed": {
      const { type, item } = event;
      const nested = { ...item, parentItemId };
      if (!isKnownItem(item)) return [{ type, item: nested }];
      if (item.type === "reasoning" || item.type === "plan") return [];
      if (item.type !== "agentMessage") return [{ type, item: nested }];
      return type === "item/completed" && item.text !== "" ? messageEvents(item, parentItemId) : [];
    }
    case "usage":
      return [{ type: "usage", last: event.last, parentItemId }];
    // The messages are shown whole; the plan, the changes and the reasoning of the turn are the agent's own.
    case "item/agentMessage/delta":
    case "item/reasoning/textDelta":
    case "item/reasoning/summaryTextDelta":
    case "item/plan/delta":
    case "turn/plan/updated":
    case "turn/diff/updated":
      return [];
    default:
      return [event];
  }
}

function messageEvents({ id, text }: Item<"agentMessage">, parentItemId: string): readonly DriverEvent[] {
  const item: Item<"subAgentMessage"> = { type: "subAgentMessage", id, text, parentItemId };
  return [
    { type: "item/started", item },
    { type: "item/completed", item },
  ];
}
