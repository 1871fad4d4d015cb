import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { parseRendezvousLine, RENDEZVOUS, type RendezvousRequest, type RunningServer } from "@flint/protocol";
import { type EnvironmentName, setting, userConfigPath } from "../config/environment.ts";
import type { FrontendName } from "../frontends.ts";
import { firstLine } from "../listeners/first-line.ts";

/** What an attempt to meet a server came to. */
export type Meeting =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly reason: string };

/** Which door a newcomer wants, and where it works when it names no folder: where the server does, if absent. */
export interface Wish {
  readonly door: FrontendName;
  readonly cwd?: string | undefined;
}

const ANSWER_MS = 5_000;

/** Connects to a running server at a door. When it is ok, the next bytes are those of the door. */
export async function meet({ pid, socket: path }: RunningServer, { door, cwd }: Wish): Promise<Meeting> {
  const socket = connect({ path, allowHalfOpen: true });
  // Told by the end of the socket, which is awaited everywhere.
  socket.on("error", () => undefined);
  const hello: RendezvousRequest = { protocol: door, cwd };
  socket.write(`${JSON.stringify(hello)}\n`);
  const line = await firstLine(socket, ANSWER_MS);
  const answer = line === undefined ? undefined : parseRendezvousLine(RENDEZVOUS.answer, line);
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
