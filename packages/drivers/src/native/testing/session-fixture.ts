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
import type { ThreadSettings, Turn } from "@flint/protocol";
import { sessionSpec } from "../../testing/session-spec.ts";
import { NativeSession } from "../session.ts";

/** The options of a test session. */
export interface SessionFixtureOptions {
  readonly steps?: readonly ScriptedStep[];
  /** Instead of the steps. */
  readonly model?: Model;
  readonly history?: readonly Turn[];
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly web?: WebAccess;
  readonly sources?: readonly ToolSource[];
  readonly contextLength?: number;
  readonly stepLimit?: number;
}

/** Opens a session with a scripted model. The test closes it. */
export function openSession(options: SessionFixtureOptions) {
  const { sandbox } = options;
  const settings = settingsIn(options.cwd);
  const model = new ScriptedModel(options.steps ?? []);
  const session: DriverSession = new NativeSession(
    sessionSpec(settings, sandbox, { history: async () => options.history ?? [] }),
    {
      modelOf: () => options.model ?? model,
      temperatureOf: () => 0,
      contextLengthOf: () => options.contextLength ?? 100_000,
      reasoningEffortOf: () => undefined,
      web: options.web ?? { fetch: false },
      stepLimit: options.stepLimit,
      sources: options.sources ?? [],
    },
  );
  return { session, model, ...turnsOf(session, settings) };
}

/** Starts turns of a session, or runs them to their end. */
export function turnsOf(session: DriverSession, settings: ThreadSettings) {
  const begin = (text: string, options: TurnOptions = {}) => {
    const turn = new RecordedTurn(text, settings, options);
    return { turn, ended: session.run(turn) };
  };
  const run = async (text: string, options: TurnOptions = {}) => {
    const { turn, ended } = begin(text, options);
    return { turn, outcome: await ended };
  };
  return { begin, run };
}
