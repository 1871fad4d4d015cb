import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { singleQuote } from "@flint/core/text";

/** Any JSON value in which texts may refer to what the fake agent knows. */
export type Template = unknown;

/**
 * One step of a fake agent. In a pattern and in a template `"$name"` stands for a value: the first pattern that meets
 * it keeps it, everything later means the same value; `"$name.field"` reaches into it and `{{name}}` works inside of
 * longer texts. Known from the start: `argv` (behind the script), `cwd`, `pid`, `env`, after a spawn `child`, and in a
 * repetition `index`.
 */
export type FakeStep =
  /**
   * Waits for a line that has at least these fields; others stay for later. The end of input before that ends the
   * agent with the code `atEnd`, 0 by default.
   */
  | { readonly expect: Template; readonly atEnd?: number }
  /** Writes an object as a line, this many times. */
  | { readonly send: Template; readonly repeat?: number }
  /** Writes a text `times` over as one line, or without its end. */
  | { readonly raw: string; readonly times?: number; readonly newline?: false; readonly repeat?: number }
  /** Writes a text to stderr `times` over. */
  | { readonly stderr: string; readonly times?: number }
  /** Makes captured names free for new values. */
  | { readonly forget: string | readonly string[] }
  /** Plays these again and again, with fresh captures each time, until the end of input. */
  | { readonly forever: readonly FakeStep[] }
  /** Starts a process that outlives the agent unless it is killed. */
  | { readonly spawn: readonly string[]; readonly detached?: boolean }
  /** Stays alive when it gets these. */
  | { readonly ignoreSignals: readonly NodeJS.Signals[] }
  /** Closes stdout and continues. */
  | { readonly closeOutput: true }
  | { readonly exit: number }
  /** Ends itself as if killed from outside. */
  | { readonly kill: true }
  /** Does nothing more and does not end, not even at the end of input. */
  | { readonly hang: true };

const PLAYER = fileURLToPath(new URL("./player.mjs", import.meta.url));

/** A checked-in script: a `codex app-server` that runs one command and answers with a sentence. */
export const CODEX_TURN_SCRIPT: string = fileURLToPath(new URL("./codex-turn.jsonl", import.meta.url));
/** The same server in a later process: it knows the thread of the first and takes it up again. */
export const CODEX_RESUME_SCRIPT: string = fileURLToPath(new URL("./codex-resume.jsonl", import.meta.url));

/** The command that plays a script file; further arguments may follow. */
export function fakeAgentCommand(scriptPath: string): string[] {
  return [process.execPath, PLAYER, scriptPath];
}

/** Writes a script into a folder and returns the command that plays it. */
export async function writeFakeAgent(
  folder: string,
  steps: readonly FakeStep[],
  name: string = "agent",
): Promise<string[]> {
  const scriptPath = join(folder, `${name}.jsonl`);
  await writeFile(scriptPath, steps.map((step) => `${JSON.stringify(step)}\n`).join(""));
  return fakeAgentCommand(scriptPath);
}

/** Puts a program of this name into a folder, for drivers that look for their agent in PATH; returns its path. */
export async function installFakeAgent(
  folder: string,
  name: string,
  command: readonly string[],
): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\nexec ${command.map(singleQuote).join(" ")} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

const MEGABYTE = 1024 * 1024;

/** Agents that do everything wrong, each in its own way. Put steps before theirs to begin with a proper conversation. */
export const HOSTILE_AGENTS = {
  "writes garbage": [{ raw: "}{ not json \u0000 \uFFFD", repeat: 100 }, { raw: "[1,2" }, { hang: true }],
  "writes a line of 50 MB": [{ raw: "x", times: 50 * MEGABYTE }, { hang: true }],
  "writes a line of 50 MB that never ends": [
    { raw: "x", times: 50 * MEGABYTE, newline: false },
    { hang: true },
  ],
  "writes 100 MB to stderr": [{ stderr: "x".repeat(1023).concat("\n"), times: 100 * 1024 }, { hang: true }],
  "never answers": [{ hang: true }],
  "never answers and ignores SIGTERM": [{ ignoreSignals: ["SIGTERM", "SIGINT", "SIGHUP"] }, { hang: true }],
  "exits at once": [{ exit: 0 }],
  "exits at once with an error": [{ stderr: "cannot start: no such account\n" }, { exit: 3 }],
  "is killed": [{ kill: true }],
  "closes its output and stays": [{ closeOutput: true }, { hang: true }],
  "answers everything twice": [
    {
      forever: [{ expect: { id: "$id", method: "$method" } }, { send: { id: "$id", result: {} }, repeat: 2 }],
    },
  ],
  "answers a request that was never sent": [{ send: { id: 999_999, result: {} } }, { hang: true }],
  "floods with notifications": [
    { send: { method: "flood/{{index}}", params: { text: "x".repeat(1000) } }, repeat: 20_000 },
    { hang: true },
  ],
} as const satisfies Readonly<Record<string, readonly FakeStep[]>>;

/** The name of a hostile agent, as a test title wants it. */
export type HostileAgent = keyof typeof HOSTILE_AGENTS;
