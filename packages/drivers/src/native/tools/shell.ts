import type { LaunchResult } from "@flint/core/ports";
import { asFlintError, type FlintError, type Item } from "@flint/protocol";
import { KeptOutput } from "./kept-output.ts";
import { declined, failed, INTERRUPTED, type Tool, type ToolContext, type ToolOutcome } from "./tool.ts";

/** How long a command may take. */
const TIMEOUT_MS = 10 * 60_000;

type CommandItem = Item<"commandExecution">;

/** Runs a command line in the sandbox, in the folder of the thread. */
export const SHELL: Tool = {
  name: "shell",
  description: "Runs a command line with sh in the workspace. Input: { command: string }.",
  async run(input, context): Promise<ToolOutcome> {
    const { command } = input;
    if (typeof command !== "string" || command.trim() === "") return failed("shell needs a command.");
    return new ShellCall(command, context).run();
  },
};

class ShellCall {
  readonly #context: ToolContext;
  readonly #item: CommandItem;
  readonly #output = new KeptOutput();

  constructor(command: string, context: ToolContext) {
    const { cwd } = context.turn.settings;
    this.#context = context;
    this.#item = { type: "commandExecution", id: context.itemId, command, cwd, status: "inProgress" };
  }

  async run(): Promise<ToolOutcome> {
    const { turn, signal } = this.#context;
    const { id: itemId, command, cwd } = this.#item;
    turn.emit({ type: "item/started", item: this.#item });
    const decision = await turn.approve({ kind: "command", itemId, command, cwd });
    if (signal.aborted) return INTERRUPTED;
    if (decision.outcome === "allow") return this.#launch();
    this.#complete({ status: "declined" });
    return decision.outcome === "cancel" ? INTERRUPTED : declined(decision.message);
  }

  async #launch(): Promise<ToolOutcome> {
    const { turn, signal, sandbox } = this.#context;
    const { command, cwd } = this.#item;
    const policy = turn.settings.sandboxPolicy;
    // Expected: no sandbox on this machine. Nothing ran, and nothing else would run either.
    try {
      const result = await sandbox.launch({
        command: ["sh", "-c", command],
        cwd,
        workspace: cwd,
        policy,
        timeoutMs: TIMEOUT_MS,
        signal,
        output: (text) => this.#tell(this.#output.add(text)),
      });
      return this.#finish(result);
    } catch (thrown) {
      return this.#refused(asFlintError(thrown));
    }
  }

  #tell(delta: string): void {
    if (delta === "") return;
    this.#context.turn.emit({ type: "item/commandExecution/outputDelta", itemId: this.#item.id, delta });
  }

  #finish({ exitCode, durationMs, ended }: LaunchResult): ToolOutcome {
    const omitted = this.#output.omittedBytes;
    this.#complete({
      status: exitCode === 0 && ended === "exited" ? "completed" : "failed",
      exitCode,
      durationMs,
      aggregatedOutput: this.#output.text,
      ...(omitted === 0 ? {} : { omittedOutputBytes: omitted }),
    });
    if (ended === "aborted") return INTERRUPTED;
    const late = ended === "timedOut" ? `\n(ended after ${TIMEOUT_MS / 60_000} minutes)` : "";
    const status = exitCode === 0 && ended === "exited" ? "done" : "failed";
    return { result: { status, exitCode, text: this.#output.text + late } };
  }

  #refused(error: FlintError): ToolOutcome {
    this.#complete({ status: "failed", aggregatedOutput: error.message });
    const errorInfo = error.kind === "sandboxUnavailable" ? "SandboxError" : "Other";
    return { ended: { status: "failed", error: { message: error.message, errorInfo } } };
  }

  #complete(change: Partial<CommandItem>): void {
    this.#context.turn.emit({ type: "item/completed", item: { ...this.#item, ...change } });
  }
}
