import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { parseRendezvousLine, RENDEZVOUS, type RendezvousRequest, type RunningServer } from "@flint/protocol";
import { readRunningServer, spawnDetached } from "@flint/sdk";
import { logFile } from "../config/environment.ts";
import type { FrontendName } from "../frontends.ts";
import { preparePrivate } from "./claim.ts";
import { firstLine } from "./rendezvous.ts";

/** A connection to a running server, or why there is none. */
export type Connected =
  | {
      readonly ok: true;
      readonly socket: Socket;
      /** Number of other clients of the server, if it reports it. */
      readonly clients?: number | undefined;
    }
  | { readonly ok: false; readonly reason: string };

/** Options of a client that connects to a running server. */
export interface ConnectOptions {
  readonly protocol: FrontendName;
  /** The default folder of its threads; the server's own folder if absent. */
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
  if (answer?.ok === true) return { ok: true, socket, clients: answer.clients };
  socket.destroy();
  return { ok: false, reason: answer?.reason ?? `The server (process ${pid}) does not answer.` };
}

/** The background server to start. */
export interface BackgroundServer {
  /** The state folder. */
  readonly folder: string;
  /** The command that runs Flint, such as `node flint.cjs`. */
  readonly flint: readonly string[];
  /** Number of seconds without clients after which it exits; 0: never. */
  readonly idleSeconds: number;
  readonly cwd: string;
}

/**
 * Time limits for the start of our server, and, after ours has exited, of one that another program started
 * first.
 */
const START_LIMITS = { ownMs: 20_000, otherMs: 5_000, pollMs: 20 };
const MAX_LOG_BYTES = 1_048_576;
const SHOWN_LOG_LINES = 5;

/**
 * Starts a server in the background and connects to it. If several programs do so at once, the kernel lets one of the
 * servers have the folder, and all of them connect to that one.
 */
export async function startAndConnect(server: BackgroundServer, options: ConnectOptions): Promise<Connected> {
  const { folder } = server;
  preparePrivate(folder);
  const output = openLog(logFile(folder));
  let deadline = Date.now() + START_LIMITS.ownMs;
  const exited = spawnServer(server, output);
  closeSync(output);
  void exited.then(() => {
    deadline = Math.min(deadline, Date.now() + START_LIMITS.otherMs);
  });
  do {
    const running = readRunningServer(folder);
    const connected = running === undefined ? undefined : await connectRunning(running, options);
    if (connected?.ok === true) return connected;
    await delay(START_LIMITS.pollMs);
  } while (Date.now() < deadline);
  return { ok: false, reason: `Cannot connect to the server that was started.${logTail(logFile(folder))}` };
}

function spawnServer({ flint, idleSeconds, cwd }: BackgroundServer, output: number): Promise<number> {
  const [command = "", ...rest] = flint;
  const args = [...rest, "serve", "--listen", "local", "--idle-exit", String(idleSeconds)];
  return spawnDetached({ command, args, cwd, output });
}

/** Opens a private log to append to, truncating it if it has become too long. */
function openLog(path: string): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  fchmodSync(file, 0o600);
  if (fstatSync(file).size > MAX_LOG_BYTES) ftruncateSync(file);
  return file;
}

function logTail(path: string): string {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n").slice(-SHOWN_LOG_LINES);
  return lines.join("").trim() === "" ? ` Its log ${path} is empty.` : ` Its log:\n${lines.join("\n")}`;
}
