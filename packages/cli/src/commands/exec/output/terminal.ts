import { openSync } from "node:fs";
import { isatty, ReadStream } from "node:tty";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { inheritedEnvironment } from "@flint/server/environment";
import type { TurnTally } from "@flint/tui/draw";
import {
  canMoveCursor,
  type Line,
  type LineBlock,
  lineOf,
  type RenderOptions,
  readLook,
  screenRows,
  styled,
  textOf,
  textWidth,
  wrapLine,
} from "@flint/tui/draw";
import { type Key, Keyboard } from "@flint/tui/terminal";
import { escapeControls } from "@flint/view";
import { type OutputFailure, outputFailureOf, printRaw } from "../../../command-line/output.ts";
import { isInForeground } from "../../../command-line/terminal.ts";
import { CodexLinesView } from "../../codex/exec-lines.ts";
import { Asker } from "../asks/asker.ts";
import type { OutputFormat } from "../options.ts";
import type { LiveView } from "./live.ts";
import { AnswerView, JsonView } from "./piped.ts";
import { PlainView } from "./plain.ts";
import type { PromptSurface, TurnView } from "./turn-view.ts";

/** Dependencies of a run's terminal. */
interface TerminalOptions {
  readonly format: OutputFormat;
  /** Shows the turn if lines can be rewritten. */
  readonly live: typeof LiveView | undefined;
  readonly cwd: string;
  readonly tally: TurnTally;
  /** Formats the answer if only that is printed; plain text by default. */
  readonly answer: ((text: string) => string) | undefined;
  readonly threadId: () => string | undefined;
  /** A hint at how to see folded content. */
  readonly how: string | undefined;
  /** Ctrl-C was pressed. */
  readonly interrupt: () => void;
  /** Output can no longer be written. */
  readonly outputLost: (loss: OutputFailure) => void;
}

/** The terminal of one run: its output, its keys, and restoring it at the end. */
export class ExecTerminal {
  readonly view: TurnView;
  /** Undefined if no user can be asked. */
  readonly asker: Asker | undefined;
  readonly #options: TerminalOptions;
  readonly #live: LiveView | undefined;
  readonly #keys: ReadStream | undefined;
  readonly #keyboard: Keyboard | undefined;

  constructor(options: TerminalOptions) {
    this.#options = options;
    const isLive = options.live !== undefined;
    // The Codex format is read by programs, so no user is asked.
    const mayAsk = options.format !== "codex" && (isLive || process.stderr.isTTY);
    this.#keys = mayAsk ? keySource() : undefined;
    this.#keyboard =
      this.#keys === undefined ? undefined : new Keyboard(this.#keys, (key) => this.#onKey(key));
    this.#live = options.live === undefined ? undefined : this.#liveView(options.live);
    this.view = this.#live ?? pipedView(options);
    this.asker = this.#asker();
    if (isLive) this.#keyboard?.hold();
    this.#listen();
  }

  /** The capabilities of the terminal where questions are asked. */
  readonly look = (): RenderOptions => lookOf(this.#live === undefined ? process.stderr : process.stdout);

  /** Prints the first line of the run. */
  header(text: string): void {
    if (this.#live === undefined) process.stderr.write(`${escapeControls(text)}\n`);
    else this.#live.put({ head: [lineOf(escapeControls(text), "dim")], indent: 2 });
  }

  /** Prints a message about this run, but not into output for programs. */
  notify(text: string): void {
    if (this.#live !== undefined) this.#live.say(text);
    else if (!FOR_PROGRAMS.includes(this.#options.format)) process.stderr.write(`${escapeControls(text)}\n`);
  }

  /** The turn is being stopped. */
  interrupting(): void {
    if (this.#live === undefined) process.stderr.write("Interrupting; press Ctrl-C again to exit now.\n");
    else this.#live.interrupting();
  }

  /** Restores the terminal. May be called more than once. */
  close(): void {
    this.view.close();
    this.#keyboard?.releaseAll();
    if (this.#keys !== process.stdin) this.#keys?.destroy();
    process.stdout.off("resize", this.#onResize);
    process.off("SIGCONT", this.#onContinue);
    process.off("exit", this.#onExit);
  }

  #liveView(View: typeof LiveView): LiveView {
    return new View({
      write: (text) => void process.stdout.write(text),
      look: () => lookOf(process.stdout),
      clock: SYSTEM_CLOCK,
      cwd: this.#options.cwd,
      tally: this.#options.tally,
      hint: "Ctrl-C to interrupt",
      how: this.#options.how,
    });
  }

  #asker(): Asker | undefined {
    if (this.#keyboard === undefined) return undefined;
    const surface: PromptSurface =
      this.#live ?? new PlainPrompt((text) => void process.stderr.write(text), this.look);
    return new Asker({ keyboard: this.#keyboard, surface, clock: SYSTEM_CLOCK });
  }

  #listen(): void {
    process.stdout.on("resize", this.#onResize);
    process.on("SIGCONT", this.#onContinue);
    // An unexpected error must not leave the terminal without a cursor.
    process.on("exit", this.#onExit);
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => this.#options.outputLost(outputFailureOf(error)));
    }
    this.#watchKeys();
  }

  /** A terminal that was closed can neither be read nor restored. */
  #watchKeys(): void {
    this.#keys?.on("error", () => this.#options.outputLost("terminalClosed"));
    // The end may also be a Ctrl-D that was typed before this program read the keys.
    this.#keys?.on("end", () => {
      if (![0, 1, 2].some((stream) => isatty(stream))) this.#options.outputLost("terminalClosed");
    });
  }

  #onKey(key: Key): void {
    if (key.type === "interrupt") this.#options.interrupt();
    if (key.type === "suspend") this.#suspend();
  }

  /** In raw mode Ctrl-Z is only a key, so this does what the terminal would do. */
  #suspend(): void {
    this.#live?.pause();
    this.#keys?.setRawMode(false);
    process.kill(0, "SIGTSTP");
  }

  readonly #onContinue = (): void => {
    if (isInForeground()) this.#keyboard?.refresh();
    this.#live?.redraw();
  };

  readonly #onResize = (): void => this.#live?.redraw();

  readonly #onExit = (): void => this.close();
}

/** Formats for programs. */
const FOR_PROGRAMS: readonly OutputFormat[] = ["json", "codex"];

/** Reports whether lines can be rewritten; a background process would overwrite what its user types. */
export function isLiveTerminal(): boolean {
  return process.stdout.isTTY === true && canMoveCursor(inheritedEnvironment()) && isInForeground();
}

function pipedView({ format, answer, threadId }: TerminalOptions): TurnView {
  // Output for a program may be printed on a terminal all the same.
  const outputs = {
    answer: (text: string) => void printRaw(text),
    aside: (text: string) => void process.stderr.write(text),
  };
  if (format === "json") return new JsonView(outputs, threadId);
  if (format === "codex") return new CodexLinesView(outputs, answer);
  if (format === "answer" || answer !== undefined) return new AnswerView(outputs, answer);
  return new PlainView((text) => void process.stdout.write(text));
}

function lookOf(stream: NodeJS.WriteStream): RenderOptions {
  return readLook(inheritedEnvironment(), stream);
}

/** Standard input, or the terminal itself if input is piped; undefined without a terminal. */
function keySource(): ReadStream | undefined {
  if (!isInForeground()) return undefined;
  if (process.stdin.isTTY) return process.stdin;
  try {
    return new ReadStream(openSync("/dev/tty", "r"));
  } catch {
    // There is no terminal.
    return undefined;
  }
}

/** Asks on a terminal with plain output: questions scroll like everything else. */
class PlainPrompt implements PromptSurface {
  readonly #write: (text: string) => void;
  readonly #look: () => RenderOptions;
  #drawn = 0;

  constructor(write: (text: string) => void, look: () => RenderOptions) {
    this.#write = write;
    this.#look = look;
  }

  put(block: LineBlock): void {
    this.prompt(undefined);
    const look = this.#look();
    this.#write(
      screenRows(block, look)
        .map((line) => `${styled(line, look.colour)}\n`)
        .join(""),
    );
  }

  /** Overwrites the last row with a carriage return and spaces, which every terminal supports. */
  prompt(line: Line | undefined): void {
    if (line === undefined) {
      if (this.#drawn > 0) this.#write("\n");
      this.#drawn = 0;
      return;
    }
    const look = this.#look();
    const rows = wrapLine(line, look.columns - 1, 2);
    const shown = this.#drawn > 0 ? rows.slice(-1) : rows;
    const width = textWidth(textOf(shown.at(-1) ?? []));
    const text = shown.map((row) => styled(row, look.colour)).join("\n");
    this.#write(`${this.#drawn > 0 ? "\r" : ""}${text}${" ".repeat(Math.max(0, this.#drawn - width))}`);
    this.#drawn = width;
  }
}
