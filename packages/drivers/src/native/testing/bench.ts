import type { WebAccess } from "@flint/agent";
import type { ToolSource } from "@flint/agent/loop";
import type { Model } from "@flint/agent/model";
import {
  RecordedTurn,
  ScriptedModel,
  type ScriptedStep,
  settingsIn,
  type TurnOptions,
} from "@flint/agent/testing";
import type { DriverSession, Sandbox } from "@flint/core/ports";
import { mintId, type ThreadSettings, type Turn } from "@flint/protocol";
import { NativeSession } from "../session.ts";

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
  const begin = (text: string, wishes: TurnOptions = {}) => {
    const turn = new RecordedTurn(text, settings, wishes);
    return { turn, ended: session.run(turn) };
  };
  const run = async (text: string, wishes: TurnOptions = {}) => {
    const { turn, ended } = begin(text, wishes);
    return { turn, outcome: await ended };
  };
  return { begin, run };
}
