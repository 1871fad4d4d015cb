import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { Server } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Clock } from "@flint/core/ports";
import { errorMessage, FlintError } from "@flint/protocol";

/** The programs that a namespace is made and entered with, as absolute paths. */
export interface NamespaceTools {
  /**
   * The arguments before a program that is to run in new user and network namespaces, with the loopback
   * interface up.
   */
  readonly holder: readonly string[];
  readonly nsenter: string;
  readonly node: string;
}

/** A socket to listen on in a namespace. */
export interface InnerAddress {
  readonly host: "127.0.0.1" | "::1";
  readonly port: number;
}

/** Listening sockets by `host port`; those that could not be had are missing. */
export type InnerListeners = ReadonlyMap<string, Server>;

const TIMEOUT_MS = 10_000;
const MOST_STDERR_CHARACTERS = 4096;

/**
 * Runs inside: opens the given listening sockets, hands them over, and exits when the channel closes. It
 * must be gone before anyone connects, because it would accept every second connection.
 */
const LISTENER = `
const { createServer } = require("node:net");
process.on("disconnect", () => process.exit());
const pending = process.argv.slice(1).map((address) => new Promise((resolve) => {
  const [host, port] = address.split(" ");
  const server = createServer({ allowHalfOpen: true });
  server.once("error", (error) => process.send({ address, problem: error.code }, resolve));
  server.listen({ host, port: Number(port), exclusive: true }, () => process.send({ address }, server, resolve));
}));
Promise.all(pending).then(() => process.send({ pid: process.pid }));
`;

/**
 * A network namespace with nothing but a loopback interface. It is held by two open files of this process and nothing
 * else, so that it ends with this process, however that ends, and there is no helper to be killed.
 */
export class NetworkNamespace {
  readonly #tools: NamespaceTools;
  readonly #clock: Clock;
  readonly #user: number;
  readonly #network: number;
  #isClosed = false;

  private constructor(tools: NamespaceTools, clock: Clock, user: number, network: number) {
    this.#tools = tools;
    this.#clock = clock;
    this.#user = user;
    this.#network = network;
  }

  /** Makes a namespace with listening sockets in it. Rejects with `sandboxUnavailable` if it cannot be made. */
  static async create(
    tools: NamespaceTools,
    clock: Clock,
    addresses: readonly InnerAddress[],
  ): Promise<{ readonly namespace: NetworkNamespace; readonly listeners: InnerListeners }> {
    let namespace: NetworkNamespace | undefined;
    const listeners = await listenInside([...tools.holder, tools.node], clock, addresses, (pid) => {
      namespace = new NetworkNamespace(tools, clock, ...openNamespaces(pid));
    });
    if (namespace === undefined) throw unavailable("the helper did not report");
    return { namespace, listeners };
  }

  /**
   * The arguments before a command that make it run inside: it has the user's id and all capabilities there,
   * so that the command has to be bubblewrap or the like, with a user namespace of its own and without a new
   * network. To be started at once, before the namespace is closed.
   */
  get enter(): readonly string[] {
    if (this.#isClosed) throw unavailable("it is closed");
    const open = (file: number) => `/proc/${process.pid}/fd/${file}`;
    const entered = [`--user=${open(this.#user)}`, `--net=${open(this.#network)}`, "--preserve-credentials"];
    return [this.#tools.nsenter, ...entered, "--"];
  }

  /** Opens further listening sockets inside. */
  listen(addresses: readonly InnerAddress[]): Promise<InnerListeners> {
    return listenInside([...this.enter, this.#tools.node], this.#clock, addresses, () => undefined);
  }

  /**
   * Returns the reason no namespace can be created or entered on this machine; undefined if that works.
   * Leaves nothing behind.
   */
  static async problem(tools: NamespaceTools, clock: Clock): Promise<string | undefined> {
    const [program = "", ...args] = tools.holder;
    const holder = spawn(program, [...args, "/bin/sh", "-c", "echo $$; read -r _"], {
      ...{ cwd: "/", env: {}, detached: true, stdio: ["pipe", "pipe", "pipe"] },
    });
    holder.stdin.on("error", () => undefined);
    const cancel = clock.after(TIMEOUT_MS, () => holder.kill("SIGKILL"));
    // Expected: the kernel, or what guards it, refuses one of the steps.
    try {
      const pid = Number(await firstLine(holder));
      const namespace = new NetworkNamespace(tools, clock, ...openNamespaces(pid));
      await run([...namespace.enter, "/bin/true"]).finally(() => namespace.close());
      return undefined;
    } catch (thrown) {
      return errorMessage(thrown);
    } finally {
      cancel();
      holder.stdin.end();
      holder.kill("SIGKILL");
    }
  }

  /** Lets go of the namespace. The kernel removes it when the last command in it has ended. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#user);
    closeSync(this.#network);
  }
}

/** A key of `InnerListeners`. */
export function innerKey({ host, port }: InnerAddress): string {
  return `${host} ${port}`;
}

/** Files that hold the namespaces of a process; fails if its network is the one of this process. */
function openNamespaces(pid: number): [user: number, network: number] {
  const user = openSync(`/proc/${pid}/ns/user`, "r");
  const network = openSync(`/proc/${pid}/ns/net`, "r");
  if (fstatSync(network).ino !== statSync("/proc/self/ns/net").ino) return [user, network];
  closeSync(user);
  closeSync(network);
  throw unavailable("it would share the network of this machine");
}

/** Runs the listener until it has handed over its sockets, and is gone. */
async function listenInside(
  [program = "", ...args]: readonly string[],
  clock: Clock,
  addresses: readonly InnerAddress[],
  onReady: (pid: number) => void,
): Promise<InnerListeners> {
  const child = spawn(program, [...args, "-e", LISTENER, ...addresses.map(innerKey)], {
    cwd: "/",
    // Nothing of the user's settings steers it.
    env: {},
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const cancel = clock.after(TIMEOUT_MS, () => child.kill("SIGKILL"));
  // Whatever goes wrong, what it handed over is closed and it is gone.
  const listeners = new Map<string, Server>();
  try {
    await handOver(child, listeners, onReady);
    return listeners;
  } catch (thrown) {
    for (const server of listeners.values()) server.close();
    child.kill("SIGKILL");
    throw thrown;
  } finally {
    cancel();
  }
}

function handOver(
  child: ChildProcess,
  listeners: Map<string, Server>,
  onReady: (pid: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isReady = false;
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(0, MOST_STDERR_CHARACTERS);
    });
    child.on("message", (message: unknown, handle: unknown) => {
      const { pid, address } = fieldsOf(message);
      if (typeof address === "string" && handle instanceof Server) listeners.set(address, handle);
      if (typeof pid !== "number") return;
      // Expected: the namespace of a process that has just gone, or one that isolates nothing.
      try {
        onReady(pid);
        isReady = true;
        child.disconnect();
      } catch (thrown) {
        reject(thrown);
      }
    });
    child.once("error", (error) => reject(unavailable(error.message)));
    // Not "close", which does not come where a socket was handed over (Node 20.20).
    child.once("exit", (code, signal) => {
      if (isReady) return resolve();
      const fail = () =>
        reject(unavailable(stderr.trim() || (signal === null ? `exit code ${code}` : `ended by ${signal}`)));
      if (child.stderr === null || child.stderr.closed) fail();
      else child.stderr.once("close", fail);
    });
  });
}

function fieldsOf(message: unknown): { readonly pid?: unknown; readonly address?: unknown } {
  return typeof message === "object" && message !== null ? message : {};
}

/** The first line of a program; rejects with what it wrote to stderr if it ends before. */
async function firstLine(child: ChildProcessWithoutNullStreams): Promise<string> {
  const failed = once(child, "error").then(([error]: unknown[]) => Promise.reject(error));
  const stderr = text(child.stderr);
  const line = createInterface(child.stdout)[Symbol.asyncIterator]().next();
  const { value } = await Promise.race([line, failed]);
  if (typeof value === "string") return value;
  throw new Error((await stderr).trim() || "the program that should hold it ended at once");
}

/** Runs a program to its end; rejects with what it wrote to stderr if it fails. */
async function run([program = "", ...args]: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, { cwd: "/", env: {}, timeout: TIMEOUT_MS }).catch(
    (error: { readonly message: string; readonly stderr?: string }) => {
      throw new Error(error.stderr?.trim() || error.message);
    },
  );
}

function unavailable(reason: string): FlintError {
  return new FlintError("sandboxUnavailable", `The network of the thread cannot be made: ${reason}.`);
}
