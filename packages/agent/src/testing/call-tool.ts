import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { Tool, ToolOutcome } from "../tools/tool.ts";
import { RecordedTurn, settingsIn, type TurnOptions } from "./recorded-turn.ts";

/** The outcome of a tool call. */
export interface Called {
  readonly turn: RecordedTurn;
  readonly outcome: ToolOutcome;
  /** The result for the model; empty if the turn ended. */
  readonly text: string;
  readonly status: string;
}

/** Calls a tool in a folder. */
export async function callTool(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  folder: { readonly path: string },
  options: TurnOptions & { readonly sandbox?: Sandbox } = {},
): Promise<Called> {
  const turn = new RecordedTurn("", settingsIn(folder.path), options);
  const { signal } = turn;
  const sandbox = options.sandbox ?? NO_COMMANDS;
  const outcome = await tool.run(input, { turn, signal, sandbox, itemId: "item" });
  const result = "result" in outcome ? outcome.result : undefined;
  return { turn, outcome, text: result?.text ?? "", status: result?.status ?? "ended" };
}

/** A sandbox in which nothing can run. */
const NO_COMMANDS: Sandbox = {
  state: async () => ({ available: false, mechanism: "none" }),
  launch: () => Promise.reject(new FlintError("sandboxUnavailable", "Nothing can run here.")),
  start: () => Promise.reject(new FlintError("sandboxUnavailable", "Nothing can run here.")),
};
