import type { DriverSession } from "@flint/core/ports";
import {
  agentFolder,
  agentProgram,
  leavesNoProcess,
  RecordingTurn,
  type RecordingTurnOptions,
  realSandbox,
} from "@flint/testkit";
import { onTestFinished } from "vitest";
import { type BenchWishes, ClaudeBench } from "./claude-bench.ts";

/** A bench on the real program, for the running test, which may leave no process. */
export async function realClaude(wishes: BenchWishes = {}): Promise<ClaudeBench> {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const sandbox = realSandbox();
  const command = [agentProgram("claude") ?? "claude"];
  return ClaudeBench.make({ folder, command, sandbox, atEnd: onTestFinished }, wishes);
}

/** A turn with the settings of a bench, unless told otherwise. */
export function turnOf(
  bench: ClaudeBench,
  text: string,
  wishes: Partial<RecordingTurnOptions> = {},
): RecordingTurn {
  return new RecordingTurn({ text, settings: bench.settings, ...wishes });
}

/** Runs one turn to its end, in a new session unless one is given. */
export async function run(
  bench: ClaudeBench,
  text: string,
  wishes: Partial<RecordingTurnOptions> = {},
  given?: DriverSession,
) {
  const session = given ?? (await bench.open());
  const turn = turnOf(bench, text, wishes);
  const outcome = await session.run(turn).finally(() => turn.end());
  return { session, turn, outcome };
}
