import { inputText, mintId } from "@flint/protocol";
import type { DriverSession, Sandbox, TurnContext, TurnOutcome } from "../ports/index.ts";
import { BoundedOutput } from "../text/bounded.ts";

const HOUR_MS = 3_600_000;

/**
 * Runs a turn that is a shell command of the user. No agent takes part; the command is confined by the policy of the
 * thread like any other.
 */
export class ShellTurn implements DriverSession {
  readonly #sandbox: Sandbox;
  readonly #timeoutMs: number;

  constructor(sandbox: Sandbox, timeoutMs: number = HOUR_MS) {
    this.#sandbox = sandbox;
    this.#timeoutMs = timeoutMs;
  }

  async run(turn: TurnContext): Promise<TurnOutcome> {
    const { cwd, sandboxPolicy: policy } = turn.settings;
    const command = inputText(turn.input);
    const item = { type: "commandExecution", id: mintId(), command, cwd, source: "userShell" } as const;
    const output = new BoundedOutput();
    const emitDelta = (delta: string) => {
      if (delta !== "") turn.emit({ type: "item/commandExecution/outputDelta", itemId: item.id, delta });
    };
    turn.emit({ type: "item/started", item: { ...item, status: "inProgress" } });
    const { exitCode, durationMs, ended } = await this.#sandbox.launch({
      command: ["sh", "-c", command],
      ...{ cwd, workspace: cwd, policy, signal: turn.signal, timeoutMs: this.#timeoutMs },
      onOutput: (piece) => emitDelta(output.add(piece)),
    });
    emitDelta(output.remainder);
    const status = ended === "exited" && exitCode === 0 ? "completed" : "failed";
    const shown = { aggregatedOutput: output.text, omittedOutputBytes: output.omittedBytes };
    turn.emit({ type: "item/completed", item: { ...item, status, exitCode, durationMs, ...shown } });
    return { status: ended === "aborted" ? "interrupted" : "completed" };
  }

  async close(): Promise<void> {
    // Nothing outlives the turn.
  }
}
