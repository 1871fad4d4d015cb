import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import * as z from "zod/mini";
import { type EnvironmentName, serverFile, setting, userConfigPath } from "../config.ts";
import type { DoorName } from "../doors.ts";
import { firstLine } from "./first-line.ts";
import { MEETING, readLine } from "./meeting.ts";

/** What a server says of itself in its state folder. */
export const RunningServer = z.object({
  pid: z.number(),
  version: z.string(),
  /** Where it is met. */
  socket: z.string(),
  /** The folder in which threads begin that name none. */
  cwd: z.string(),
  /** Stands for the settings in the environment that it was started with. */
  settings: z.string(),
  listeners: z.array(z.string()),
});
export type RunningServer = z.output<typeof RunningServer>;

/** What an attempt to meet a server came to. */
export type Meeting =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly reason: string };

const ANSWER_MS = 5_000;
const OTHERS = 0o077;

/** What the state folder says about a running server; it may have died without a word. */
export function readRunning(root: string): RunningServer | undefined {
  let file: number;
  try {
    file = openSync(serverFile(root), constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    // None runs, or it is none of ours.
    return undefined;
  }
  try {
    const { mode, uid } = fstatSync(file);
    // Whoever could write this file could send us anywhere.
    if ((mode & OTHERS) !== 0 || (process.getuid !== undefined && uid !== process.getuid())) return undefined;
    return readLine(RunningServer, readFileSync(file, "utf8"));
  } finally {
    closeSync(file);
  }
}

/** Connects to a running server at a door. When it is ok, the next bytes are those of the door. */
export async function meet({ pid, socket: path }: RunningServer, door: DoorName): Promise<Meeting> {
  const socket = connect({ path, allowHalfOpen: true });
  // Told by the end of the socket, which is awaited everywhere.
  socket.on("error", () => undefined);
  socket.write(`${JSON.stringify({ door })}\n`);
  const line = await firstLine(socket, ANSWER_MS);
  const answer = line === undefined ? undefined : readLine(MEETING.answer, line);
  if (answer?.ok === true) return { ok: true, socket };
  socket.destroy();
  return { ok: false, reason: answer?.reason ?? `The server with process id ${pid} does not answer.` };
}

const SHAPING: readonly EnvironmentName[] = [
  "FLINT_MODEL",
  "FLINT_MODEL_URL",
  "FLINT_OFFLINE_SCRIPT",
  "ANTHROPIC_BASE_URL",
  "OPENAI_BASE_URL",
  "OLLAMA_HOST",
  "CLAUDE_CODE_EXECUTABLE",
  "CODEX_EXECUTABLE",
];

/** Stands for the settings in the environment that decide how a server works; the same for the same settings. */
export function settingsMark(): string {
  const values = SHAPING.map((name) => setting(name) ?? null);
  const text = JSON.stringify([resolve(userConfigPath()), ...values]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
