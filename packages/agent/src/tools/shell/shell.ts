import { rerunAction, rerunPermission } from "@flint/core/denials";
import type { ActionGuarantees, LaunchResult, LaunchSpec } from "@flint/core/ports";
import { BoundedOutput } from "@flint/core/text";
import {
  asFlintError,
  type FlintError,
  type Item,
  joinPermissions,
  type Permission,
  type SandboxPolicy,
} from "@flint/protocol";
import { boolean, InvalidInput, integer, optional, string } from "../input.ts";
import {
  declined,
  defineTool,
  failed,
  INTERRUPTED,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../tool.ts";
import { type BackgroundCommand, type BackgroundCommands, MAX_COMMANDS } from "./background.ts";
import { neededBeyond, needsField } from "./needs.ts";
import { isReviewCommand } from "./review-commands.ts";

/** The default timeout of a command. */
const TIMEOUT_MS = 10 * 60_000;

const MAX_TIMEOUT_MS = 60 * 60_000;

/** Output up to this size always reaches the model as it is. */
const SHORT_BYTES = 1000;

/** Time for which a background command is watched, to see whether it starts at all. */
const START_WATCH_MS = 500;

const READ_ONLY: SandboxPolicy = { type: "readOnly" };

type CommandItem = Item<"commandExecution">;

interface ShellInput {
  readonly command: string;
  readonly timeout_ms: number | undefined;
  readonly background: boolean | undefined;
  /** Permissions beyond the sandbox of its thread, once the user has allowed them. */
  readonly needs: Permission | undefined;
  readonly why: string | undefined;
  readonly startWatchMs: number;
}

/** Runs commands in the sandbox, in the folder of the thread. */
export function shellTool(background: BackgroundCommands, startWatchMs = START_WATCH_MS): Tool {
  return defineTool({
    name: "shell",
    description:
      "Runs a command line with sh in the workspace and returns its output. With background it keeps running while you do other things; read its output with shell_output and stop it with shell_stop.",
    readOnly: false,
    input: {
      command: string("The command line.", { maxLength: 100_000 }),
      timeout_ms: optional(integer("When to kill it; 10 minutes by default.", 1, MAX_TIMEOUT_MS)),
      background: optional(boolean("Whether to run it in the background, for servers and watchers.")),
      needs: optional(needsField()),
      why: optional(string("Why it needs that, for the user.", { maxLength: 1000, mayBeEmpty: true })),
    },
    async run(input, context) {
      if (input.command.trim() === "") throw new InvalidInput("command must not be empty.");
      if (input.command.includes("\0")) throw new InvalidInput("command must not contain a NUL character.");
      // Throws for a path that no approval opens.
      const needs = await neededBeyond(input.needs ?? {}, context.turn.settings, context.sandbox);
      return new ShellCall({ ...input, needs, startWatchMs }, background, context).run();
    },
  });
}

class ShellCall {
  readonly #input: ShellInput;
  readonly #background: BackgroundCommands;
  readonly #context: ToolContext;
  readonly #item: CommandItem;
  readonly #output = new BoundedOutput();
  /** The sandbox policy of the thread, or a stricter one. */
  #policy: SandboxPolicy;
  /** Permissions beyond that: those it requests until they are decided, and then those it was granted. */
  #permission: Permission | undefined;

  constructor(input: ShellInput, background: BackgroundCommands, context: ToolContext) {
    const { cwd } = context.turn.settings;
    const { command } = input;
    this.#input = input;
    this.#background = background;
    this.#context = context;
    this.#item = { type: "commandExecution", id: context.itemId, command, cwd, status: "inProgress" };
    this.#policy = context.turn.settings.sandboxPolicy;
    this.#permission = input.needs;
  }

  async run(): Promise<ToolOutcome> {
    const { turn } = this.#context;
    turn.emit({ type: "item/started", item: this.#item });
    const { background, needs } = this.#input;
    const isReview =
      isReviewCommand(this.#item.command, turn.review) && background !== true && needs === undefined;
    if (!isReview || !(await this.#canConfine())) return this.#approve({});
    this.#policy = READ_ONLY;
    return this.#approve({ onlyReads: true });
  }

  async #approve(guarantees: ActionGuarantees): Promise<ToolOutcome> {
    const { turn, signal } = this.#context;
    const { id: itemId, command, cwd } = this.#item;
    const { needs, why } = this.#input;
    const asked = needs === undefined ? {} : { needs, ...(why ? { why } : {}) };
    const decision = await turn.approve({ kind: "command", itemId, command, cwd, ...asked }, guarantees);
    if (signal.aborted) return INTERRUPTED;
    this.#permission = decision.granted ?? needs;
    if (decision.outcome === "allow")
      return this.#input.background ? this.#runInBackground() : this.#runToEnd();
    this.#complete({ status: "declined" });
    return decision.outcome === "cancel" ? INTERRUPTED : declined(decision.message);
  }

  /** Reports whether commands can be confined to reading on this machine; there may be no sandbox. */
  async #canConfine(): Promise<boolean> {
    const { sandbox, signal } = this.#context;
    const { cwd } = this.#item;
    const probe = {
      command: ["true"],
      cwd,
      workspace: cwd,
      policy: READ_ONLY,
      signal,
      onOutput: () => {},
    };
    // Expected: no sandbox on this machine.
    return sandbox.launch(probe).then(
      ({ exitCode }) => exitCode === 0,
      () => false,
    );
  }

  async #runToEnd(): Promise<ToolOutcome> {
    const timeoutMs = this.#input.timeout_ms ?? TIMEOUT_MS;
    const { signal } = this.#context;
    // Expected: no sandbox on this machine. Nothing ran, and nothing else would run either.
    try {
      const onOutput = (chunk: string) => this.#emit(this.#output.add(chunk));
      const first = await this.#launch({ timeoutMs, signal, onOutput });
      const allowed = await this.#offerAgain(first);
      if (allowed === undefined) return this.#finish(first, timeoutMs);
      this.#addNote("(It was allowed and runs again:)");
      const permission = joinPermissions([this.#permission ?? {}, allowed]);
      const again = await this.#launch({ timeoutMs, signal, onOutput, permission });
      this.#addDenials(again);
      return this.#finish({ ...again, durationMs: first.durationMs + again.durationMs }, timeoutMs);
    } catch (thrown) {
      return this.#notStarted(asFlintError(thrown));
    }
  }

  /** Says what the sandbox stopped, and asks whether to run it again with that. Undefined: it is not to run again. */
  async #offerAgain(result: LaunchResult): Promise<Permission | undefined> {
    const { turn, signal } = this.#context;
    const { id: itemId, command, cwd } = this.#item;
    this.#addDenials(result);
    const { denials = [], durationMs: ranMs } = result;
    const stopped = { itemId, command, cwd, policy: this.#policy, ranMs, denials };
    const needs = rerunPermission(stopped);
    if (needs === undefined || signal.aborted || result.ended !== "exited") return undefined;
    const { outcome, granted = needs } = await turn.approve(rerunAction(stopped, needs));
    return outcome === "allow" && !signal.aborted ? granted : undefined;
  }

  /** A line for the user and the model about each thing that the sandbox kept the command from. */
  #addDenials({ denials = [] }: LaunchResult): void {
    for (const { evidence } of denials) this.#addNote(`(${evidence})`);
  }

  /** Starts it in the background and watches it for a moment: most failures happen at once. */
  async #runInBackground(): Promise<ToolOutcome> {
    const { turn, signal } = this.#context;
    const { timeout_ms, startWatchMs } = this.#input;
    const limit = timeout_ms === undefined ? {} : { timeoutMs: timeout_ms };
    const { id: itemId, command, cwd } = this.#item;
    const started = this.#background.start({ command, cwd, itemId, turnId: turn.turnId }, (stop, output) =>
      this.#launch({ ...limit, signal: stop, onOutput: output }),
    );
    if (started === undefined) return this.#tooMany();
    await started.waitForEnd(startWatchMs, signal);
    if (signal.aborted) {
      await started.stop();
      return INTERRUPTED;
    }
    this.#emit(this.#output.add(started.takeOutput()));
    if (started.ending instanceof Error) return this.#notStarted(asFlintError(started.ending));
    if (started.ending !== undefined) {
      this.#addDenials(started.ending);
      return this.#finish(started.ending, timeout_ms);
    }
    return this.#stillRunning(started);
  }

  #launch(how: Pick<LaunchSpec, "timeoutMs" | "signal" | "onOutput" | "permission">): Promise<LaunchResult> {
    const { sandbox } = this.#context;
    const { id: itemId, command, cwd } = this.#item;
    const policy = this.#policy;
    const permission = this.#permission;
    const beyond = permission === undefined ? {} : { permission };
    const launch = { command: ["sh", "-c", command], cwd, workspace: cwd, policy, itemId };
    return sandbox.launch({ ...launch, ...beyond, ...how });
  }

  #stillRunning({ id }: BackgroundCommand): ToolOutcome {
    this.#addNote(`(It keeps running in the background as process ${id}, at most until Flint exits.)`);
    this.#emit(this.#output.remainder);
    const { text: aggregatedOutput } = this.#output;
    this.#complete({ status: "completed", aggregatedOutput, _meta: { background: id } });
    return { result: { status: "done", text: this.#output.text } };
  }

  #tooMany(): ToolOutcome {
    const reason = `At most ${MAX_COMMANDS} commands can run in the background. ${this.#background.describe()} Stop one with shell_stop.`;
    this.#complete({ status: "failed", aggregatedOutput: reason });
    return failed(reason);
  }

  #emit(delta: string): void {
    if (delta === "") return;
    this.#context.turn.emit({ type: "item/commandExecution/outputDelta", itemId: this.#item.id, delta });
  }

  #finish({ exitCode, durationMs, ended }: LaunchResult, timeoutMs: number | undefined): ToolOutcome {
    const { printed } = this.#output;
    const limit = duration(timeoutMs ?? TIMEOUT_MS);
    if (ended === "timedOut") this.#addNote(`(It was killed after ${limit}, its time limit.)`);
    this.#emit(this.#output.remainder);
    const omitted = this.#output.omittedBytes;
    const isFine = exitCode === 0 && ended === "exited";
    this.#complete({
      status: isFine ? "completed" : "failed",
      exitCode,
      durationMs,
      aggregatedOutput: this.#output.text,
      ...(omitted === 0 ? {} : { omittedOutputBytes: omitted }),
    });
    if (ended === "aborted") return INTERRUPTED;
    // The line about the omitted middle may itself be cut out when the text is made to fit the model.
    const note = `\n(It printed ${printed.bytes} bytes in ${printed.lines} lines; ${omitted} bytes of the middle are left out.)`;
    const text = omitted === 0 ? this.#output.text : this.#output.text + note;
    return {
      result: {
        status: isFine ? "done" : "failed",
        exitCode,
        text,
        ...(printed.bytes > SHORT_BYTES ? { printed } : {}),
      },
    };
  }

  /** Adds a line to the output, for the user and for the model. */
  #addNote(line: string): void {
    const { text: printed } = this.#output;
    this.#emit(this.#output.add(printed === "" || printed.endsWith("\n") ? `${line}\n` : `\n${line}\n`));
  }

  #notStarted(error: FlintError): ToolOutcome {
    this.#complete({ status: "failed", aggregatedOutput: error.message });
    // The sandbox itself works; only what this command asked for cannot be given.
    if (this.#input.needs !== undefined) return failed(error.message);
    const errorInfo = error.kind === "sandboxUnavailable" ? "SandboxError" : "Other";
    return { ended: { status: "failed", error: { message: error.message, errorInfo } } };
  }

  #complete(change: Partial<CommandItem>): void {
    this.#context.turn.emit({ type: "item/completed", item: { ...this.#item, ...change } });
  }
}

function duration(milliseconds: number): string {
  return milliseconds >= 60_000
    ? `${Math.round(milliseconds / 60_000)} minutes`
    : `${milliseconds / 1000} seconds`;
}
