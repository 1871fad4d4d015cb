import { errorMessage } from "@flint/host/files";
import type { Item } from "@flint/protocol";
import { truncateMiddle } from "../text.ts";
import { failed, INTERRUPTED, type ToolContext, type ToolOutcome } from "./tool.ts";

/** How much of a result is kept with its item, for people and for a thread that is taken up again. */
const KEPT_CHARACTERS = 16_384;

/** How a call is shown. */
export interface ToolCallInfo {
  readonly tool: string;
  readonly title: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Does some work and shows it as a call of a tool, from its beginning to its end. What it throws is told in words. */
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
  // Expected: a file that is not there or may not be read, a connection that fails.
  const outcome = await work().catch((thrown: unknown) => failed(errorMessage(thrown)));
  if (signal.aborted) return INTERRUPTED;
  if ("result" in outcome)
    turn.emit({ type: "item/completed", item: { ...item, ...ending(outcome.result) } });
  return outcome;
}

type Result = Extract<ToolOutcome, { result: unknown }>["result"];

function ending({ status, text }: Result): Partial<Item<"toolCall">> {
  const kept = truncateMiddle(text, KEPT_CHARACTERS);
  if (status === "done") return { status: "completed", result: kept };
  return { status, error: kept };
}
