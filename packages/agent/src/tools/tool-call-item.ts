import { errorMessage } from "@flint/host/files";
import type { Item } from "@flint/protocol";
import { truncateMiddle } from "../text.ts";
import { failed, INTERRUPTED, type ToolContext, type ToolOutcome } from "./tool.ts";

/** How much of a result is stored with its item, for people and for a thread that is resumed. */
const MAX_STORED_RESULT = 16_384;

/** What the item of a call shows. */
export interface ToolCallInfo {
  readonly tool: string;
  readonly title: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Runs a tool call with an item from its start to its end. What it throws becomes a failed result. */
export async function runAsItem(
  { tool, title, input }: ToolCallInfo,
  { turn, itemId, signal }: ToolContext,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const item: Item<"toolCall"> = {
    type: "toolCall",
    id: itemId,
    tool,
    title,
    arguments: given,
    status: "inProgress",
  };
  turn.emit({ type: "item/started", item });
  // Expected: a file that does not exist or may not be read, a connection that fails.
  const outcome = await work().catch((thrown: unknown) => failed(errorMessage(thrown)));
  if (signal.aborted) return INTERRUPTED;
  if ("result" in outcome)
    turn.emit({ type: "item/completed", item: { ...item, ...ending(outcome.result) } });
  return outcome;
}

type Result = Extract<ToolOutcome, { result: unknown }>["result"];

function ending({ status, text }: Result): Partial<Item<"toolCall">> {
  const stored = truncateMiddle(text, MAX_STORED_RESULT);
  if (status === "done") return { status: "completed", result: stored };
  return { status, error: stored };
}
