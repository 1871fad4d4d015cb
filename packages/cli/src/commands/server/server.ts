import { setTimeout as delay } from "node:timers/promises";
import type { RunningServer } from "@flint/protocol";
import { type FlintClient, readRunningServer } from "@flint/sdk";
import { logFile, stateFolder } from "@flint/server/environment";
import { FRONTEND_NAMES } from "@flint/server/frontends";
import { connectRunning, connectShared } from "@flint/server/single-instance";
import { count, duration } from "@flint/view";
import { noArguments } from "../../command-line/command.ts";
import { columns, print, printError, printJson } from "../../command-line/output.ts";

interface StatusArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** The facts known about a running server. */
export interface ServerStatus {
  readonly pid: number;
  readonly version: string;
  /** Start time, in milliseconds since 1970; undefined if the server does not report it. */
  readonly startedAt?: number | undefined;
  /** The number of clients that have joined it. */
  readonly clients?: number | undefined;
  /** The number of threads that it has open, and in how many of them a turn is running; undefined for another version. */
  readonly threads?: { readonly open: number; readonly running: number } | undefined;
  readonly addresses: readonly string[];
  readonly cwd: string;
  readonly folder: string;
  readonly log: string;
}

const NONE = "No server is running for";
const START = "Start one with flint connect --start, or flint serve --listen ws://127.0.0.1:4747.";

/** `flint server status`: describes the running server. Exits with 1 if none is running. */
export async function serverStatus({ values, positionals }: StatusArguments): Promise<number> {
  noArguments("server status", positionals);
  const folder = stateFolder();
  const running = readRunningServer(folder);
  const connected = running === undefined ? undefined : await connectRunning(running, { protocol: "flint" });
  if (running === undefined || connected?.ok !== true) {
    if (values.json === true) return printJson({ running: false, folder }) + 1;
    return printError(`${NONE} ${folder}. ${START}`, 1);
  }
  const { clients } = connected;
  connected.socket.destroy();
  const threads = await threadCounts(folder);
  const status = { ...statusOf(running, folder), clients, threads };
  return values.json === true
    ? printJson({ running: true, ...status })
    : print(statusText(status, Date.now()));
}

function statusOf(running: RunningServer, folder: string): ServerStatus {
  const { pid, version, startedAt, cwd, socket, listeners } = running;
  return {
    pid,
    version,
    startedAt,
    cwd,
    folder,
    log: logFile(folder),
    addresses: [`unix:${socket}`, ...listeners],
  };
}

async function threadCounts(folder: string): Promise<ServerStatus["threads"]> {
  const shared = await connectShared({ folder, cwd: process.cwd(), sameSettings: false });
  if (shared.client === undefined) return undefined;
  try {
    return await countThreads(shared.client);
  } finally {
    await shared.client.close();
  }
}

/** Counts the threads that are loaded, in pages. */
async function countThreads(client: FlintClient): Promise<{ open: number; running: number }> {
  let [open, running] = [0, 0];
  let cursor: string | undefined;
  do {
    const page = await client.listThreads({ limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
    const loaded = page.data.filter(({ status }) => status.type !== "notLoaded");
    open += loaded.length;
    running += loaded.filter(({ status }) => status.type === "active").length;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { open, running };
}

/** The status as text. */
export function statusText(status: ServerStatus, now: number): string {
  const { pid, version, startedAt, clients, threads, addresses, cwd, folder, log } = status;
  const [local = "", ...listeners] = addresses;
  const paths = FRONTEND_NAMES.map((name) => `/${name}`).join(", ");
  const since =
    startedAt === undefined
      ? []
      : [["since", `${new Date(startedAt).toISOString()} (${duration(Math.max(0, now - startedAt))})`]];
  return columns([
    ["process", `${pid} (Flint ${version})`],
    ...since,
    ...(clients === undefined ? [] : [["clients", `${clients} joined`]]),
    ...(threads === undefined
      ? []
      : [["threads", `${threads.open} open, ${count(threads.running, "turn")} running`]]),
    ["local", `${local} (flint connect, exec and threads join here)`],
    ...listeners.map((address) => [
      "listening",
      address.startsWith("ws") ? `${address} (${paths})` : address,
    ]),
    ["folder", cwd],
    ["state", folder],
    ["log", log],
  ]);
}

/** Time within which a server must stop, which is more than it allows itself, and the interval of checks. */
const STOP = { totalMs: 15_000, pollMs: 50 };

/** `flint server stop`: stops the running server: turns are interrupted and stored, clients disconnected. */
export async function stopServer({ positionals }: Pick<StatusArguments, "positionals">): Promise<number> {
  noArguments("server stop", positionals);
  const folder = stateFolder();
  const pid = await serverProcess(folder);
  if (pid === undefined) return print(`${NONE} ${folder}.\n`);
  process.kill(pid, "SIGTERM");
  const deadline = Date.now() + STOP.totalMs;
  while (isRunning(pid)) {
    if (Date.now() > deadline) {
      return printError(`The server (process ${pid}) has not stopped within ${STOP.totalMs / 1000} s.`, 1);
    }
    await delay(STOP.pollMs);
  }
  return print(`Stopped the server for ${folder} (process ${pid}).\n`);
}

/** The process that answers at the server's socket: a process id in a file may be that of another program by now. */
async function serverProcess(folder: string): Promise<number | undefined> {
  const running = readRunningServer(folder);
  const connected = running === undefined ? undefined : await connectRunning(running, { protocol: "flint" });
  if (connected?.ok !== true) return undefined;
  connected.socket.destroy();
  return running?.pid;
}

function isRunning(pid: number): boolean {
  // Expected: there is no such process any more.
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
