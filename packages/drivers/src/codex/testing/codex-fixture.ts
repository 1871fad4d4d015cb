import { mkdir } from "node:fs/promises";
import type { DriverSession, Sandbox, SessionSpec, TurnContext } from "@flint/core/ports";
import {
  agentFolder,
  agentProgram,
  descendantsOf,
  leavesNoProcess,
  RecordingTurn,
  type RecordingTurnOptions,
  realSandbox,
} from "@flint/testkit";
import { onTestFinished } from "vitest";
import type { AgentOptions } from "../../shared/agent.ts";
import { type OfflineScript, offlineModel } from "../../testing/offline-model.ts";
import { sessionSpec, testSettings } from "../../testing/session-spec.ts";
import { CodexDriver } from "../driver.ts";
import type { CodexTiming } from "../process/server.ts";

/** The real program with the offline model, and a folder to work in; the running test may leave no process. */
export async function codexFixture(script?: OfflineScript) {
  leavesNoProcess();
  const program = agentProgram("codex");
  const model = await offlineModel(onTestFinished, script);
  const [{ path: outside }, { path: stateFolder }] = await Promise.all([agentFolder(), agentFolder()]);
  const sandbox = realSandbox({ brokerFolder: `${stateFolder}/run` });
  const cwd = `${outside}/workspace`;
  await mkdir(cwd);
  const options = realCodex({ program, sandbox, stateFolder, url: () => model.url });
  const driver = new CodexDriver(options, SHORT_LIVED);
  // Before its home is removed, so that it writes nothing there any more.
  onTestFinished(() => driver.close());
  const settings = testSettings("codex/default", cwd, { approvalPolicy: "unlessTrusted" });
  const open = async (spec: Partial<SessionSpec> = {}, by: CodexDriver = driver) => {
    const session = await by.open(sessionSpec(settings, sandbox, spec));
    onTestFinished(() => session.close());
    return session;
  };
  return { model, driver, settings, open, cwd, outside, stateFolder, sandbox, program };
}

/** Runs one turn to its end. */
export async function run(
  session: DriverSession,
  options: RecordingTurnOptions,
  more: Partial<TurnContext> = {},
) {
  const turn = new RecordingTurn(options);
  const outcome = await session.run({ ...contextOf(turn), ...more });
  turn.end();
  return { turn, outcome };
}

/** The turn as a plain object, so that a test can override its fields. */
export function contextOf(turn: TurnContext): TurnContext {
  return {
    ...{ turnId: turn.turnId, kind: turn.kind, input: turn.input, settings: turn.settings },
    ...{ review: turn.review, outputSchema: turn.outputSchema, signal: turn.signal },
    emit: (event) => turn.emit(event),
    ready: () => turn.ready(),
    approve: (action) => turn.approve(action),
    ask: (itemId, questions) => turn.ask(itemId, questions),
    callTool: (call) => turn.callTool(call),
  };
}

/** A call of a tool from the code that the newest models write. */
export function code(text: string): OfflineScript {
  return [[{ call: "exec", raw: `text(JSON.stringify(await ${text}))` }], [{ text: "Done." }]];
}

/** Matches the command line of the program itself, not those of its wrappers. */
export const APP_SERVER = /^\S*\/bin\/codex app-server/;

/** The processes of Codex that run now. */
export function codexProcesses() {
  return descendantsOf(process.pid).filter(({ command }) => APP_SERVER.test(command));
}

/** Ends the shared process soon after the last thread, so that a test leaves nothing. */
export const SHORT_LIVED: Partial<CodexTiming> = { keepAlive: 50 };

/** Fixture of a test with the real Codex. */
export interface RealCodex {
  readonly program: string | undefined;
  readonly sandbox: Sandbox;
  /** Returns the address of the offline model; called when Codex is started. */
  url(): string;
  readonly stateFolder: string;
}

/** Options for the real Codex on the offline model, with a home of its own. */
export function realCodex({ program, sandbox, url, stateFolder }: RealCodex): AgentOptions {
  return {
    program: async () => ({ command: [program ?? "codex"], environment: {} }),
    offlineModel: async () => url(),
    stateFolder,
    sandbox,
    version: "0.0.0",
  };
}
