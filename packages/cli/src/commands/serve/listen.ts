import { resolve } from "node:path";
import type { Engine } from "@flint/core";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { singleQuote } from "@flint/core/text";
import type { SandboxPolicy } from "@flint/protocol";
import { stdioTransport } from "@flint/rpc/node";
import { DEFAULT_POLICIES } from "@flint/server/config";
import { tokenFile as defaultTokenFile, limitedTokensFile, stateFolder } from "@flint/server/environment";
import {
  DEFAULT_FRONTEND,
  FRONTEND_NAMES,
  type FrontendName,
  Frontends,
  ROOT_FRONTEND,
} from "@flint/server/frontends";
import {
  isLoopback,
  LimitedTokens,
  type ListenAddress,
  parseAddress,
  readToken,
  TokenFile,
} from "@flint/server/listeners";
import { idleShutdown, Listening, type ListenOptions, type OpenListener } from "@flint/server/listening";
import {
  composeEngine,
  type FleetOptions,
  redactErrors,
  releaseMemoryOnce,
  type ServedClients,
  signalled,
  stopServer,
} from "@flint/server/serve";
import { UsageError } from "../../command-line/command.ts";
import type { FlagValues, LISTEN_FLAGS, SERVER_FLAGS } from "../../command-line/flags.ts";
import { idleSeconds, protocolNamed, serverOptions } from "../../command-line/server-options.ts";

/** A warning about `--no-token`: the sandbox does not keep agents and commands with network access from the port. */
const OPEN_PORT =
  "flint: warning: without a token, every program on this machine that can reach the port can act as you, including agents and commands with network access\n";

/** Rejects before anything listens if the tasks of the fleet cannot be kept where the configuration says. */
async function checkFleet(fleet: FleetOptions): Promise<void> {
  await (await import("@flint/server/fleet")).checkFleet(fleet);
}

type Values = FlagValues<typeof SERVER_FLAGS & typeof LISTEN_FLAGS>;

/** `flint serve --listen`: serves clients until a signal ends it. Turns continue when their clients disconnect. */
export async function serveListeners(values: Values): Promise<number> {
  const addresses = addressesOf(values);
  const idleMs = idleMsOf(values, addresses);
  const plan = listenOptions(values, addresses);
  const options = await serverOptions(values);
  if (options.fleet !== undefined && values.alone !== true) await checkFleet(options.fleet);
  const secrets = plan.token === undefined ? [] : [readToken(plan.token.path)];
  const ownSockets = addresses.flatMap((address) => (address.kind === "unix" ? [address.path] : []));
  const engine = composeEngine({
    ...options,
    secrets,
    ownSockets,
    ...(values.alone === true ? {} : { tasks: { ...options.taskSettings, fleet: options.fleet } }),
  });
  redactErrors((text) => engine.redact(text));
  const frontends = new Frontends(engine, options);
  const stopping = signalled();
  const presence = values.alone === true ? undefined : { folder: stateFolder(), cwd: options.cwd };
  const allowRemoteMcp = values["allow-remote-mcp"] ?? options.allowRemoteMcp;
  const listening = await openOrClose(engine, frontends, { ...plan, allowRemoteMcp, presence });
  const clients: ServedClients[] = [listening];
  if (addresses.some(({ kind }) => kind === "stdio")) {
    const open = await frontends.open(plan.protocol);
    clients.push(open.connect(stdioTransport()));
  }
  if (presence !== undefined && addresses.some(({ kind }) => kind === "local")) {
    process.stderr.write(localText(presence.folder, plan.protocol, values.json === true));
  }
  releaseMemoryOnce(SYSTEM_CLOCK);
  const policy = (options.sandboxPolicy ?? DEFAULT_POLICIES.sandboxPolicy).type;
  for (const listener of listening.listeners)
    process.stderr.write(listenerText(listener, policy, values.json === true));
  if (addresses.some(({ kind }) => kind === "webSocket") && plan.token === undefined) {
    process.stderr.write(OPEN_PORT);
  }
  await Promise.race(
    idleMs === undefined ? [stopping] : [stopping, idleShutdown(listening, engine, SYSTEM_CLOCK, idleMs)],
  );
  await stopServer(engine, clients);
  return 0;
}

async function openOrClose(engine: Engine, frontends: Frontends, options: ListenOptions): Promise<Listening> {
  try {
    return await Listening.start(frontends, options, SYSTEM_CLOCK);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function addressesOf({ listen = [], stdio }: Values): ListenAddress[] {
  const addresses = listen.map((text) => {
    const parsed = parseAddress(text);
    if (!parsed.ok) throw new UsageError(parsed.reason);
    return parsed.address;
  });
  const hasStdio = addresses.some(({ kind }) => kind === "stdio");
  return stdio === true && !hasStdio ? [{ kind: "stdio" }, ...addresses] : addresses;
}

function listenOptions(
  values: Values,
  all: readonly ListenAddress[],
): Omit<ListenOptions, "presence" | "allowRemoteMcp"> {
  const addresses = all.flatMap((address) =>
    address.kind === "stdio" || address.kind === "local" ? [] : [address],
  );
  const protocol = protocolNamed(values.protocol);
  return {
    addresses,
    protocol: protocol ?? DEFAULT_FRONTEND,
    root: protocol ?? ROOT_FRONTEND,
    token: tokenFor(values, addresses),
    limitedTokens: new LimitedTokens(limitedTokensFile(stateFolder())),
    allowOrigins: values["allow-origin"] ?? [],
    allowHosts: values["allow-host"] ?? [],
  };
}

function tokenFor(values: Values, addresses: ListenOptions["addresses"]): TokenFile | undefined {
  const ports = addresses.filter(({ kind }) => kind === "webSocket");
  const file = values["token-file"];
  if (values["no-token"] === true) {
    if (file !== undefined) throw new UsageError("--no-token and --token-file cannot be used together.");
    const open = addresses.find((address) => address.kind === "webSocket" && !isLoopback(address.host));
    if (open === undefined) return undefined;
    throw new UsageError(
      "--no-token works only with 127.0.0.1, [::1] and localhost: on other addresses, anyone who can reach the port could run commands as you.",
    );
  }
  return ports.length === 0
    ? undefined
    : TokenFile.open(file === undefined ? defaultTokenFile(stateFolder()) : resolve(file));
}

/** Returns the time for which the server waits for clients before it exits; undefined if it never does. */
function idleMsOf(
  { alone, "idle-exit": text }: Values,
  addresses: readonly ListenAddress[],
): number | undefined {
  const kinds = addresses.map(({ kind }) => kind);
  if (alone === true && kinds.every((kind) => kind === "local")) {
    throw new UsageError("--listen local and --alone cannot be used together: no client could connect.");
  }
  if (text === undefined) return undefined;
  if (kinds.includes("stdio")) throw new UsageError("--idle-exit cannot be used with stdio.");
  const seconds = idleSeconds(text);
  return seconds === 0 ? undefined : seconds * 1000;
}

function localText(folder: string, protocol: FrontendName, json: boolean): string {
  if (json) return `${JSON.stringify({ listening: "local", protocol, tokenFile: null })}\n`;
  return `flint: serving ${folder}; flint connect and flint serve --stdio join this server\n`;
}

/** The line about an open listener. The token itself is never printed. */
function listenerText(
  { address, protocol, tokenFile }: OpenListener,
  policy: PolicyName,
  json: boolean,
): string {
  if (json) return `${JSON.stringify({ listening: address, protocol, tokenFile: tokenFile ?? null })}\n`;
  if (address.startsWith("unix:")) return `flint: listening at ${address} (${protocol} protocol)\n`;
  const paths = FRONTEND_NAMES.map((name) => `/${name}`).join(", ");
  const secret = tokenFile === undefined ? "no token" : `token in ${tokenFile}`;
  const line = `flint: listening at ${address} (${protocol} protocol at /, others at ${paths}); ${secret}\n`;
  // On a line of its own, so that it can be pasted.
  return protocol === "codex" ? `${line}${codexLine(address, policy, tokenFile)}\n` : line;
}

type PolicyName = SandboxPolicy["type"];

/**
 * The server's sandbox policy as an option of `codex`. The TUI (0.166.0) requests read-only threads in every folder that
 * it does not trust, and never asks its user about a remote one; so the command states the server's own policy.
 */
const CODEX_SANDBOX: Readonly<Record<PolicyName, string>> = {
  readOnly: " --sandbox read-only",
  workspaceWrite: " --sandbox workspace-write",
  dangerFullAccess: " --sandbox danger-full-access",
  externalSandbox: "",
};

/** The command that starts the Codex TUI on this server. */
function codexLine(address: string, policy: PolicyName, tokenFile: string | undefined): string {
  const sandbox = CODEX_SANDBOX[policy];
  if (tokenFile === undefined) return `codex --remote ${address}${sandbox}`;
  const token = `FLINT_TOKEN="$(cat ${singleQuote(tokenFile)})"`;
  return `${token} codex --remote ${address} --remote-auth-token-env FLINT_TOKEN${sandbox}`;
}
