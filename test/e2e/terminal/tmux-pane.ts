import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The program to start in the terminal, and its folder. */
export interface TerminalProgram {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A private folder, for the socket. */
  readonly folder: string;
  readonly columns?: number;
  readonly rows?: number;
}

const [COLUMNS, ROWS] = [150, 50];
const POLL_MS = 40;
const GUARD_MS = 30_000;
const COLOUR = "\u001b\\[[\\d;]*m";
const COLOURS = new RegExp(COLOUR, "g");
/** Everything of a line before its first visible character. */
const BEGINNING = new RegExp(`^(?:\\s|${COLOUR})*`);
/** Red as a colour of the terminal, and as one of the 256. */
const RED = /\[(?:[\d;]*;)?(?:31|91|38;5;(?:1|9|160|196))m/;

/** The shell reports it: tmux 3.3 sometimes never learns how a program ended. */
const EXIT = /^\[exit code (\d+)\]$/m;

const run = promisify(execFile);
let started = 0;

/** A program in a tmux terminal, driven by keys and read from the screen. */
export class TmuxPane {
  readonly #socket: readonly string[];
  readonly #env: Readonly<Record<string, string>>;

  private constructor(socket: string, env: Readonly<Record<string, string>>) {
    this.#socket = ["-L", socket, "-f", "/dev/null"];
    this.#env = env;
  }

  /** Starts a program in a terminal of its own, which has to be closed. */
  static async open(program: TerminalProgram): Promise<TmuxPane> {
    const { command, cwd, env, folder, columns = COLUMNS, rows = ROWS } = program;
    const { TMUX: _, ...rest } = env;
    started += 1;
    const terminal = new TmuxPane(`flint-${process.pid}-${started}`, { ...rest, TMUX_TMPDIR: folder });
    const size = ["-x", String(columns), "-y", String(rows)];
    // Its last output can still be read after it has ended.
    const options = ["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"];
    const line = `${command.map(quoted).join(" ")}; echo "[exit code $?]"`;
    const session = ["new-session", "-d", "-c", cwd, ...size, line];
    await terminal.#tmux([...options, ...session]);
    return terminal;
  }

  /** Ends the terminal and what runs in it. */
  async close(): Promise<void> {
    await this.#tmux(["kill-server"]);
  }

  /** Types a text. */
  async type(text: string): Promise<void> {
    await this.#tmux(["send-keys", "-l", "--", text]);
  }

  /** Presses keys by their names, such as Enter. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux(["send-keys", ...keys]);
  }

  /** Returns the visible text, without empty lines. */
  async screen(): Promise<string> {
    return this.#capture([]);
  }

  /** Returns the visible text, and everything that scrolled away above it. */
  async everything(): Promise<string> {
    return this.#capture(["-S", "-"]);
  }

  /** Reports whether the alternate screen is shown, which has no scrollback. */
  async isAlternate(): Promise<boolean> {
    const { stdout } = await this.#tmux(["display-message", "-p", "#{alternate_on}"]);
    return stdout.trim() === "1";
  }

  /** Returns the visible screen as it is: every row, with its colours as escape sequences. */
  async picture(): Promise<string[]> {
    const { stdout } = await this.#tmux(["capture-pane", "-p", "-e"]);
    return stdout.replace(/\n$/, "").split("\n");
  }

  /** The lines of everything that begin in red. */
  async redLines(): Promise<string[]> {
    const lines = (await this.#capture(["-e", "-S", "-"])).split("\n");
    const red = lines.filter((line) => RED.test(BEGINNING.exec(line)?.[0] ?? ""));
    return red.map((line) => line.replaceAll(COLOURS, "").trim());
  }

  /** Resolves once the screen matches; else fails with what it shows instead. */
  async until(
    matches: (everything: string) => boolean,
    what: string,
    of: "all" | "screen" = "all",
  ): Promise<void> {
    const deadline = performance.now() + GUARD_MS;
    for (;;) {
      const everything = of === "all" ? await this.everything() : await this.screen();
      if (matches(everything)) return;
      if (performance.now() > deadline || EXIT.test(everything)) {
        throw new Error(`${what} was not to be seen, but:\n${everything}`);
      }
      await pause();
    }
  }

  /** Reports whether the screen matches within a time. */
  async matchesWithin(matches: (everything: string) => boolean, milliseconds: number): Promise<boolean> {
    const deadline = performance.now() + milliseconds;
    while (performance.now() < deadline) {
      if (matches(await this.everything())) return true;
      await pause();
    }
    return false;
  }

  /** Resolves with the exit code once the program has exited. */
  async exitCode(): Promise<number> {
    await this.until((everything) => EXIT.test(everything), "its end");
    return Number(EXIT.exec(await this.everything())?.[1]);
  }

  async #capture(options: readonly string[]): Promise<string> {
    const { stdout } = await this.#tmux(["capture-pane", "-p", "-J", ...options]);
    return stdout.replaceAll(/\s*\n/g, "\n");
  }

  #tmux(args: readonly string[]): Promise<{ stdout: string }> {
    return run("tmux", [...this.#socket, ...args], { env: this.#env });
  }
}

/** Screen changes emit no event, so the screen is polled. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
