import type { ActionGuarantees, LaunchResult, LaunchSpec } from "@flint/core/ports";
import { BoundedOutput } from "@flint/core/text";
import { asFlintError, type FlintError, type Item, type SandboxPolicy } from "@flint/protocol";
import { boolean, integer, optional, string } from "../input.ts";
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
import { isReviewCommand } from "./review-commands.ts";

/** How long a command may take if the model does not say. */
const TIMEOUT_MS = 10 * 60_000;

const LONGEST_MS = 60 * 60_000;

/** So much of an output always reaches the model as it is. */
const SHORT_BYTES = 1000;

/** How long a command for the background is watched, to see whether it starts at all. */
const FIRST_LOOK_MS = 500;

const ONLY_READING: SandboxPolicy = { type: "readOnly" };

type CommandItem = Item<"commandExecution">;

interface Wish {
  readonly command: string;
  readonly timeout_ms: number | undefined;
  readonly background: boolean | undefined;
  readonly firstLookMs: number;
}

/** Runs command lines in the sandbox, in the folder of the thread. */
export function shellTool(background: BackgroundCommands, firstLookMs = FIRST_LOOK_MS): Tool {
  return defineTool({
    name: "shell",
    description:
      "Runs a command line with sh in the workspace and gives its output. With background it goes on while you do other things; look at it with shell_output and end it with shell_stop.",
    readOnly: false,
    input: {
      command: string("The command line.", { maxLength: 100_000 }),
      timeout_ms: optional(integer("When to end it; after 10 minutes if not given.", 1, LONGEST_MS)),
      background: optional(boolean("Whether it goes on in the background, for servers and watchers.")),
    },
    async run(wish, context) {
      if (wish.command.trim() === "") return failed("shell: command must not be empty.");
      if (wish.command.includes("\0")) return failed("shell: command must not hold a NUL character.");
      return new ShellCall({ ...wish, firstLookMs }, background, context).run();
    },
  });
}

class ShellCall {
  readonly #wish: Wish;
  readonly #background: BackgroundCommands;
  readonly #context: ToolContext;
  readonly #item: CommandItem;
  readonly #output = new BoundedOutput();
  /** What keeps it in: the policy of the thread, or a closer one. */
  #policy: SandboxPolicy;

  constructor(wish: Wish, background: BackgroundCommands, context: ToolContext) {
    const { cwd } = context.turn.settings;
    const { command } = wish;
    this.#wish = wish;
    this.#background = background;
    this.#context = context;
    this.#item = { type: "commandExecution", id: context.itemId, command, cwd, status: "inProgress" };
    this.#policy = context.turn.settings.sandboxPolicy;
  }

  async run(): Promise<ToolOutcome> {
    const { turn } = this.#context;
    turn.emit({ type: "item/started", item: this.#item });
    const isReview = isReviewCommand(this.#item.command, turn.review) && this.#wish.background !== true;
    if (!isReview || !(await this.#canConfine())) return this.#asked({});
    this.#policy = ONLY_READING;
    return this.#asked({ onlyReads: true });
  }

  async #asked(promise: ActionGuarantees): Promise<ToolOutcome> {
    const { turn, signal } = this.#context;
    const { id: itemId, command, cwd } = this.#item;
    const decision = await turn.approve({ kind: "command", itemId, command, cwd }, promise);
    if (signal.aborted) return INTERRUPTED;
    if (decision.outcome === "allow") return this.#wish.background ? this.#leave() : this.#wait();
    this.#complete({ status: "declined" });
    return decision.outcome === "cancel" ? INTERRUPTED : declined(decision.message);
  }

  /** Whether commands can be kept from writing on this machine; a thread without a sandbox may be where none is. */
  async #canConfine(): Promise<boolean> {
    const { sandbox, signal } = this.#context;
    const { cwd } = this.#item;
    const trial = {
      command: ["true"],
      cwd,
      workspace: cwd,
      policy: ONLY_READING,
      signal,
      onOutput: () => {},
    };
    // Expected: no sandbox on this machine.
    return sandbox.launch(trial).then(
      ({ exitCode }) => exitCode === 0,
      () => false,
    );
  }

  async #wait(): Promise<ToolOutcome> {
    const timeoutMs = this.#wish.timeout_ms ?? TIMEOUT_MS;
    const { signal } = this.#context;
    // Expected: no sandbox on this machine. Nothing ran, and nothing else would run either.
    try {
      const output = (piece: string) => this.#tell(this.#output.add(piece));
      return this.#finish(await this.#launch({ timeoutMs, signal, onOutput: output }), timeoutMs);
    } catch (thrown) {
      return this.#refused(asFlintError(thrown));
    }
  }

  /** Starts it for the background, and looks at it for a moment: most of what goes wrong goes wrong at once. */
  async #leave(): Promise<ToolOutcome> {
    const { turn, signal } = this.#context;
    const { timeout_ms, firstLookMs } = this.#wish;
    const limit = timeout_ms === undefined ? {} : { timeoutMs: timeout_ms };
    const started = this.#background.start(this.#item.command, turn.turnId, (stop, output) =>
      this.#launch({ ...limit, signal: stop, onOutput: output }),
    );
    if (started === undefined) return this.#tooMany();
    await started.waitForEnd(firstLookMs, signal);
    if (signal.aborted) {
      await started.stop();
      return INTERRUPTED;
    }
    this.#tell(this.#output.add(started.takeOutput()));
    if (started.ending instanceof Error) return this.#refused(asFlintError(started.ending));
    if (started.ending !== undefined) return this.#finish(started.ending, timeout_ms);
    return this.#goesOn(started);
  }

  #launch(how: Pick<LaunchSpec, "timeoutMs" | "signal" | "onOutput">): Promise<LaunchResult> {
    const { sandbox } = this.#context;
    const { command, cwd } = this.#item;
    const policy = this.#policy;
    return sandbox.launch({ command: ["sh", "-c", command], cwd, workspace: cwd, policy, ...how });
  }

  #goesOn({ id }: BackgroundCommand): ToolOutcome {
    this.#remark(`(It goes on in the background as process ${id} until Flint ends.)`);
    this.#tell(this.#output.rest);
    this.#complete({ status: "completed", aggregatedOutput: this.#output.text });
    return { result: { status: "done", text: this.#output.text } };
  }

  #tooMany(): ToolOutcome {
    const reason = `At most ${MAX_COMMANDS} commands can run in the background. ${this.#background.describe()} Stop one with shell_stop.`;
    this.#complete({ status: "failed", aggregatedOutput: reason });
    return failed(reason);
  }

  #tell(delta: string): void {
    if (delta === "") return;
    this.#context.turn.emit({ type: "item/commandExecution/outputDelta", itemId: this.#item.id, delta });
  }

  #finish({ exitCode, durationMs, ended }: LaunchResult, timeoutMs: number | undefined): ToolOutcome {
    const { printed } = this.#output;
    const limit = duration(timeoutMs ?? TIMEOUT_MS);
    if (ended === "timedOut") this.#remark(`(It was ended after ${limit}, its time limit.)`);
    this.#tell(this.#output.rest);
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
    // The line in the middle that says so may be cut away when the text is made to fit the model.
    const cut = `\n(It printed ${printed.bytes} bytes in ${printed.lines} lines; ${omitted} bytes of the middle are left out.)`;
    const text = omitted === 0 ? this.#output.text : this.#output.text + cut;
    return {
      result: {
        status: isFine ? "done" : "failed",
        exitCode,
        text,
        ...(printed.bytes > SHORT_BYTES ? { printed } : {}),
      },
    };
  }

  /** Adds a line of our own to the output, for the user and for the model. */
  #remark(line: string): void {
    const { text: said } = this.#output;
    this.#tell(this.#output.add(said === "" || said.endsWith("\n") ? `${line}\n` : `\n${line}\n`));
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

function duration(milliseconds: number): string {
  return milliseconds >= 60_000
    ? `${Math.round(milliseconds / 60_000)} minutes`
    : `${milliseconds / 1000} seconds`;
}
