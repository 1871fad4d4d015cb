import { existsSync } from "node:fs";
import { isFullAccess } from "@flint/protocol";
import type { ClientConnectOptions, FlintClient } from "@flint/sdk";
import { serverFile, stateFolder } from "@flint/server/environment";
import { printError } from "../command-line/output.ts";
import { type PlacedOptions, type ServerFlagValues, serverOptions } from "../command-line/server-options.ts";

/** A client of a server: of the running one, or of one in this process that closes with it. */
export interface OpenServer {
  readonly client: FlintClient;
  /** True if other clients use the server too. */
  readonly isShared: boolean;
  /** The reason the running server is not used, if there is one. */
  readonly notJoined: string | undefined;
  close(): Promise<void>;
}

/** Runs something against a server in this process, with the user's configuration, and closes the server. */
export async function withServer<Value>(
  use: (client: FlintClient) => Promise<Value>,
  values: ServerFlagValues = {},
): Promise<Value> {
  return using(await ownServer(await serverOptions(values)), use);
}

/**
 * Runs something against stored data, in the running server if there is one. Otherwise the server is in this process,
 * and an invalid configuration is reported and ignored.
 */
export async function withStoredData<Value>(use: (client: FlintClient) => Promise<Value>): Promise<Value> {
  const shared = await joinServer({ cwd: process.cwd(), sameSettings: false });
  if ("client" in shared) return using(shared, use);
  return using(await ownServer(await tolerantOptions()), use);
}

/** The running server, unless an option configures the server itself; or a server in this process. */
export async function openServer(
  options: PlacedOptions,
  flags: ServerFlagValues,
  client: ClientConnectOptions,
): Promise<OpenServer> {
  const own = ownServerFlags(flags, options);
  const { cwd } = options;
  if (own.length > 0) return ownServer(options, client, flagReason(own));
  const joined = await joinServer({ cwd, sameSettings: true }, client);
  return "client" in joined ? joined : ownServer(options, client, joined.notJoined);
}

/** The given options that cannot be sent to a running server: they say how the server itself works. */
export function ownServerFlags(
  flags: ServerFlagValues,
  { approvalPolicy, sandboxPolicy }: Pick<PlacedOptions, "approvalPolicy" | "sandboxPolicy">,
): string[] {
  const given = OWN_SERVER_FLAGS.filter((name) => flags[name] !== undefined).map((name) => `--${name}`);
  const { agent, offline } = flags;
  if (agent !== undefined && /[\s/]/.test(agent)) given.push("--agent with a command");
  if (agent !== undefined && agent !== "flint" && offline === true) given.push("--offline with --agent");
  return isFullAccess(approvalPolicy, sandboxPolicy) ? [...given, "full access"] : given;
}

const OWN_SERVER_FLAGS = ["policy", "trace", "durability", "approval-timeout", "allow-unconfined"] as const;

function flagReason(given: readonly string[]): string {
  return `${given.join(" and ")} cannot be applied to it`;
}

async function joinServer(
  how: { readonly cwd: string; readonly sameSettings: boolean },
  client: ClientConnectOptions = {},
): Promise<OpenServer | { readonly notJoined: string | undefined }> {
  const folder = stateFolder();
  // Most runs find none, and load nothing to connect with.
  if (!existsSync(serverFile(folder))) return { notJoined: undefined };
  const { connectShared } = await import("@flint/server/single-instance");
  const shared = await connectShared({ ...client, ...how, folder });
  if (shared.client === undefined) return { notJoined: shared.reason };
  const { client: joined } = shared;
  return { client: joined, isShared: true, notJoined: undefined, close: () => joined.close() };
}

async function ownServer(
  options: PlacedOptions,
  client: ClientConnectOptions = {},
  notJoined?: string,
): Promise<OpenServer> {
  const { embed } = await import("@flint/server/embed");
  const embedded = await embed(options, client);
  return { client: embedded.client, isShared: false, notJoined, close: () => embedded.close() };
}

async function tolerantOptions(): Promise<PlacedOptions> {
  try {
    return await serverOptions({});
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== "ConfigError") throw thrown;
    printError(`${thrown.message}\nIgnoring the configuration here; fix it before you run flint exec.`, 0);
    return { cwd: process.cwd() };
  }
}

async function using<Value>(
  server: OpenServer,
  use: (client: FlintClient) => Promise<Value>,
): Promise<Value> {
  try {
    return await use(server.client);
  } finally {
    await server.close();
  }
}
