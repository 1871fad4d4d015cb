import { createServer } from "node:net";
import { join } from "node:path";
import { clearTextRefusal } from "@flint/sdk";
import { type Channel, type Program, programChannel, socketChannel, webSocketChannel } from "./channel.ts";

/** A server to try, from which connections can be had. */
export interface Target {
  /** As the user gave it. */
  readonly label: string;
  /** Whether several connections lead to the same server. */
  readonly shared: boolean;
  connect(): Promise<Channel>;
  /** Ends what was started. */
  close(): Promise<void>;
}

/** Where a server is, or how it is started. */
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
/** How often a server that is starting is tried. */
const RETRY_MS = 50;

/** The server that words stand for: an address, a program, or a program that listens at an address with {port} or {socket}. */
export async function openTarget(options: TargetOptions): Promise<Target> {
  const { words, token } = options;
  const label = words.join(" ");
  const [first, ...rest] = words;
  if (rest.length === 0 && isAddress(first)) {
    refuseClearText(first, token);
    return { label, shared: true, connect: () => channelTo(first, token), close: async () => {} };
  }
  const placed = /\{(?:port|socket)\}/.test(label) ? await listeningTarget(options, label) : undefined;
  return (
    placed ?? {
      label,
      shared: false,
      connect: async () => programChannel(programOf(words, options)),
      close: async () => {},
    }
  );
}

/** Whether a text is an address and no command. */
export function isAddress(text: string): boolean {
  return new RegExp(`^${ADDRESS.source}$`).test(text);
}

/** A program that is started once and then connected to as often as wanted. */
async function listeningTarget(options: TargetOptions, label: string): Promise<Target | undefined> {
  const { words, folder, token, timeoutMs } = options;
  const port = String(await freePort());
  const socket = join(folder, "server.sock");
  const place = (word: string): string => word.replaceAll("{port}", port).replaceAll("{socket}", socket);
  const [command, ...args] = words.map(place);
  const [address] = ADDRESS.exec(words.map(place).join(" ")) ?? [];
  if (address === undefined || command === undefined) return undefined;
  refuseClearText(address, token);
  const server = programChannel(programOf([command, ...args], options));
  let ended: Error | undefined;
  server.listen({
    text: () => {},
    closed: (why) => {
      ended = why;
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
