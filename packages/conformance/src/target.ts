import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import type { Transport } from "@flint/rpc";
import { streamTransport } from "@flint/rpc/node";
import { clearTextRefusal, type FlintConnectionError, spawnServer } from "@flint/sdk";
import type { WebSocket } from "ws";
import { type Channel, LineSplitter, MAX_LINE_BYTES } from "./wire/channel.ts";

/** A server to test, to which connections can be opened. */
export interface Target {
  /** As the user gave it. */
  readonly label: string;
  /** True if several connections lead to the same server. */
  readonly shared: boolean;
  connect(): Promise<Channel>;
  /** Stops what was started. */
  close(): Promise<void>;
}

/** The address of a server, or the command that starts it. */
export interface TargetOptions {
  readonly words: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A folder of this run's own, for sockets. */
  readonly folder: string;
  readonly token: string | undefined;
  readonly timeoutMs: number;
}

const ADDRESS = /(?:(?:wss?|ws\+unix):\/\/|unix:)\S+/;
/** Interval at which a server that is starting is polled. */
const RETRY_MS = 50;

/**
 * Opens the target that an argument list names: an address, a program, or a program that listens at an address with {port}
 * or {socket}.
 */
export async function openTarget(options: TargetOptions): Promise<Target> {
  const { words, token } = options;
  const label = words.join(" ");
  const [first, ...rest] = words;
  if (rest.length === 0 && isAddress(first)) {
    refuseClearText(first, token);
    return { label, shared: true, connect: () => channelTo(first, token), close: async () => {} };
  }
  const listening = /\{(?:port|socket)\}/.test(label) ? await listeningTarget(options, label) : undefined;
  return (
    listening ?? {
      label,
      shared: false,
      connect: async () => programChannel(programOf(words, withOwnState(options))),
      close: async () => {},
    }
  );
}

/** Reports whether an argument is an address and not a command. */
export function isAddress(text: string): boolean {
  return new RegExp(`^${ADDRESS.source}$`).test(text);
}

/** A program that is started once and takes any number of connections. */
async function listeningTarget(options: TargetOptions, label: string): Promise<Target | undefined> {
  const { words, folder, token, timeoutMs } = options;
  const port = String(await freePort());
  const socket = join(folder, "server.sock");
  const substitute = (word: string): string => word.replaceAll("{port}", port).replaceAll("{socket}", socket);
  const [command, ...args] = words.map(substitute);
  const [address] = ADDRESS.exec(words.map(substitute).join(" ")) ?? [];
  if (address === undefined || command === undefined) return undefined;
  refuseClearText(address, token);
  const server = programChannel(programOf([command, ...args], options));
  let ended: Error | undefined;
  server.listen({
    text: () => {},
    closed: (reason) => {
      ended = reason;
    },
  });
  const connect = (): Promise<Channel> =>
    eventually(
      () => channelTo(address, token),
      () => ended,
      timeoutMs,
    );
  return { label, shared: true, connect, close: () => server.close() };
}

/** A Flint that only serves this run stores its threads in the folder of the run, not among those of the user. */
function withOwnState(options: TargetOptions): TargetOptions {
  const { environment, folder } = options;
  return { ...options, environment: { ...environment, FLINT_HOME: join(folder, "flint-home") } };
}

function programOf(words: readonly [string, ...string[]], { cwd, environment }: TargetOptions): Program {
  return { command: words, cwd, environment };
}

function refuseClearText(address: string, token: string | undefined): void {
  const reason =
    token !== undefined && URL.canParse(address) ? clearTextRefusal(new URL(address)) : undefined;
  if (reason !== undefined) throw new Error(reason);
}

async function channelTo(address: string, token: string | undefined): Promise<Channel> {
  const path = /^unix:(?:\/\/)?(.+)$/.exec(address)?.[1];
  if (path !== undefined) return socketChannel(path);
  return webSocketChannel(address, token);
}

/** Tries until it works, the server ends, or the time is over. */
async function eventually<Value>(
  attempt: () => Promise<Value>,
  ended: () => Error | undefined,
  timeoutMs: number,
): Promise<Value> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    // Expected: a server that does not listen yet.
    try {
      return await attempt();
    } catch (error) {
      const end = ended();
      if (end !== undefined) throw end;
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A program to start, and what it is started with. */
export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Time within which a server must exit after its input was closed; some never do. */
const STOP_MS = 1_500;

/** Starts a program with its protocol on stdin and stdout, one message per line. */
export function programChannel({ command: [command, ...args], cwd, environment }: Program): Channel {
  const server = spawnServer({ command, args, cwd, env: environment, stopMs: STOP_MS });
  return lineChannel({
    transport: server.transport,
    explain: async (reason) => {
      const error = await server.explain(reason);
      return error.kind === "spawnFailed" ? notStarted(command, error) : error;
    },
    stop: () => server.stop(),
  });
}

/** The error for a command that the user typed, where the one of the SDK is about a program that starts it. */
function notStarted(command: string, { cause }: FlintConnectionError): Error {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  const fix = "Check the command: its program must be on PATH, or be given with its full path.";
  return new Error(`could not start ${JSON.stringify(command)}${why}. ${fix}`, { cause });
}

/** Connects to a unix socket on which each message is a line. */
export async function socketChannel(path: string): Promise<Channel> {
  const socket = connect(path);
  await once(socket, "connect");
  return lineChannel({
    transport: streamTransport(socket, socket),
    explain: async (reason) => new Error(`the server closed the connection${because(reason)}`),
    stop: async () => void socket.destroy(),
  });
}

/** Connects to a WebSocket on which each message is a text frame. */
export async function webSocketChannel(url: string, token: string | undefined): Promise<Channel> {
  const { webSocketLibrary } = await import("@flint/server/listeners");
  const { WebSocket } = webSocketLibrary();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: MAX_LINE_BYTES });
  const early: string[] = [];
  const keep = (data: { toString(): string }): void => void early.push(data.toString());
  socket.on("message", keep);
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", reject);
  });
  return {
    listen: ({ text, closed }) => {
      socket.off("message", keep);
      for (const message of early) text(message);
      socket.on("message", (data) => text(data.toString()));
      socket.on("error", () => {});
      socket.once("close", (code) => closed(new Error(`the server closed the WebSocket (code ${code})`)));
    },
    send: (text) => socket.send(text),
    close: () => closeWebSocket(socket),
  };
}

/** Closes a WebSocket, by force if the other side does not answer the close. */
async function closeWebSocket(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => socket.terminate(), STOP_MS);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.close();
  });
}

interface LineEnd {
  readonly transport: Transport;
  explain(reason: Error | undefined): Promise<Error>;
  stop(): Promise<void>;
}

function lineChannel({ transport, explain, stop }: LineEnd): Channel {
  return {
    listen: ({ text, closed }) => {
      const lines = new LineSplitter((line) => line !== "" && text(line));
      transport.start({
        chunk: (bytes) => lines.push(typeof bytes === "string" ? Buffer.from(bytes) : bytes),
        closed: (reason) => void explain(reason).then(closed),
      });
    },
    send: (text) => void transport.write(`${text}\n`),
    close: () => stop(),
  };
}

function because(reason: Error | undefined): string {
  return reason === undefined ? "" : `: ${reason.message}`;
}
