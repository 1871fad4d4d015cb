import { once } from "node:events";
import { connect } from "node:net";
import { type LineFault, LineReader, type Transport } from "@flint/rpc";
import { streamTransport } from "@flint/rpc/node";
import { type FlintConnectionError, spawnServer } from "@flint/sdk";
import type { WebSocket } from "ws";

/** Who listens to a channel. `closed` comes once, last. */
export interface ChannelListener {
  text(text: string): void;
  closed(why: Error): void;
}

/** One connection to a server, in whole messages of text. */
export interface Channel {
  /** Begins to deliver. Called once. */
  listen(listener: ChannelListener): void;
  send(text: string): void;
  /** Resolves when the connection is gone, and with it whatever was started for it. */
  close(): Promise<void>;
}

/** A program to start, and what it is started with. */
export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How long a server may take to end after its input was closed. Some never do it by themselves. */
const STOP_MS = 1_500;
const LONGEST = 64 * 1024 * 1024;

/** Starts a program that speaks on stdin and stdout, one message a line. */
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

/** The same for somebody who typed a command and has no program of their own that starts it. */
function notStarted(command: string, { cause }: FlintConnectionError): Error {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  const way = "Check the command: its program must be on PATH, or be given with its whole path.";
  return new Error(`could not start ${JSON.stringify(command)}${why}. ${way}`, { cause });
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
  const socket = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: LONGEST });
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
    close: () => ended(socket),
  };
}

/** A polite close that the other side may leave unanswered. */
async function ended(socket: WebSocket): Promise<void> {
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
      const fault = ({ kind }: LineFault): void => text(`(a line that cannot be read: ${kind})`);
      const reader = new LineReader({ limit: LONGEST, line: text, fault });
      transport.start({
        chunk: (bytes) => reader.push(bytes),
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
