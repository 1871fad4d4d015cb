import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { parseRendezvousLine, RENDEZVOUS, type RendezvousRequest, type RunningServer } from "@flint/protocol";
import { type EnvironmentName, setting, userConfigPath } from "../config/environment.ts";
import type { FrontendName } from "../frontends.ts";
import { firstLine } from "../listeners/first-line.ts";

/** A connection to a running server, or why there is none. */
export type Connected =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly reason: string };

/** What a client asks of a running server. */
export interface ConnectOptions {
  readonly protocol: FrontendName;
  /** Where its threads work by default; the server's own folder if absent. */
  readonly cwd?: string | undefined;
}

const ANSWER_MS = 5_000;

/** Connects to a running server. If that succeeds, the next bytes on the socket are those of the protocol. */
export async function connectRunning(
  { pid, socket: path }: RunningServer,
  { protocol, cwd }: ConnectOptions,
): Promise<Connected> {
  const socket = connect({ path, allowHalfOpen: true });
  // An error is followed by the end of the socket, which every reader handles.
  socket.on("error", () => undefined);
  const request: RendezvousRequest = { protocol, cwd };
  socket.write(`${JSON.stringify(request)}\n`);
  const line = await firstLine(socket, ANSWER_MS);
  const answer = line === undefined ? undefined : parseRendezvousLine(RENDEZVOUS.answer, line);
  if (answer?.ok === true) return { ok: true, socket };
  socket.destroy();
  return { ok: false, reason: answer?.reason ?? `The server (process ${pid}) does not answer.` };
}

/** The variables that change how a server works. */
const SERVER_VARIABLES: readonly EnvironmentName[] = [
  "FLINT_MODEL",
  "FLINT_MODEL_URL",
  "FLINT_OFFLINE_SCRIPT",
  "ANTHROPIC_BASE_URL",
  "OPENAI_BASE_URL",
  "OLLAMA_HOST",
  "CLAUDE_CODE_EXECUTABLE",
  "CODEX_EXECUTABLE",
];

/** A hash of the settings in the environment that change how a server works. */
export function settingsHash(): string {
  const values = SERVER_VARIABLES.map((name) => setting(name) ?? null);
  const text = JSON.stringify([resolve(userConfigPath()), ...values]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
