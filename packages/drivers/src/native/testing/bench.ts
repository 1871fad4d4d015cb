import type { DriverSession, Sandbox } from "@flint/core/ports";
import { FlintError, mintId, type ThreadSettings, type Turn } from "@flint/protocol";
import type { Model } from "../models/model.ts";
import type { WebAccess } from "../options.ts";
import { NativeSession } from "../session.ts";
import type { Tool, ToolOutcome, ToolSource } from "../tools/tool.ts";
import { RecordedTurn, settingsIn, type TurnWishes } from "./recorded-turn.ts";
import { ScriptedModel, type ScriptedStep } from "./scripted-model.ts";

/** What a session of a test is made of. */
export interface BenchOptions {
  readonly steps?: readonly ScriptedStep[];
  /** Instead of the steps. */
  readonly model?: Model;
  readonly history?: readonly Turn[];
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly web?: WebAccess;
  readonly sources?: readonly ToolSource[];
  readonly contextLength?: number;
}

/** An agent with a scripted model. Whoever opens it closes its session. */
export function openBench(options: BenchOptions) {
  const { sandbox } = options;
  const settings = settingsIn(options.cwd);
  const model = new ScriptedModel(options.steps ?? []);
  const session: DriverSession = new NativeSession(
    {
      threadId: mintId(),
      settings,
      nativeId: undefined,
      history: async () => options.history ?? [],
      handoffSummary: async () => "",
      sandbox,
      mcpServers: [],
    },
    {
      modelOf: () => options.model ?? model,
      temperatureOf: () => 0,
      contextLengthOf: () => options.contextLength ?? 100_000,
      reasoningEffortOf: () => undefined,
      web: options.web ?? { fetch: false },
      sources: options.sources ?? [],
    },
  );
  return { session, model, ...turnsOf(session, settings) };
}

/** Turns of a session: begun only, or run to their end. */
export function turnsOf(session: DriverSession, settings: ThreadSettings) {
  const begin = (text: string, wishes: TurnWishes = {}) => {
    const turn = new RecordedTurn(text, settings, wishes);
    return { turn, ended: session.run(turn) };
  };
  const run = async (text: string, wishes: TurnWishes = {}) => {
    const { turn, ended } = begin(text, wishes);
    return { turn, outcome: await ended };
  };
  return { begin, run };
}

/** What came of a call of a tool. */
export interface Called {
  readonly turn: RecordedTurn;
  readonly outcome: ToolOutcome;
  /** What the model is told; empty if the turn ended. */
  readonly text: string;
  readonly status: string;
}

/** Calls a tool in a folder. */
export async function callTool(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  folder: { readonly path: string },
  wishes: TurnWishes & { readonly sandbox?: Sandbox } = {},
): Promise<Called> {
  const turn = new RecordedTurn("", settingsIn(folder.path), wishes);
  const { signal } = turn;
  const sandbox = wishes.sandbox ?? NO_COMMANDS;
  const outcome = await tool.run(input, { turn, signal, sandbox, itemId: "item" });
  const result = "result" in outcome ? outcome.result : undefined;
  return { turn, outcome, text: result?.text ?? "", status: result?.status ?? "ended" };
}

/** Where nothing can be run. */
const NO_COMMANDS: Sandbox = {
  state: async () => ({ available: false, mechanism: "none" }),
  launch: () => Promise.reject(new FlintError("sandboxUnavailable", "Nothing can be run here.")),
  start: () => Promise.reject(new FlintError("sandboxUnavailable", "Nothing can be run here.")),
};
