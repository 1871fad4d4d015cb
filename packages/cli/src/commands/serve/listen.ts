import { resolve } from "node:path";
import type { Engine } from "@flint/core";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { stdioTransport } from "@flint/rpc";
import { USUAL_POLICIES } from "@flint/server/config";
import { stateFolder, tokenFile as usualTokenFile } from "@flint/server/environment";
import {
  DEFAULT_FRONTEND,
  FRONTEND_NAMES,
  type FrontendName,
  Frontends,
  ROOT_FRONTEND,
} from "@flint/server/frontends";
import {
  isLoopback,
  type ListenAddress,
  Listening,
  type ListenPlan,
  type OpenPlace,
  readAddress,
  readToken,
  TokenFile,
  unused,
} from "@flint/server/listeners";
import { type Clients, composeEngine, endServer, redactErrors, signalled } from "@flint/server/serve";
import { doorNamed, idleSeconds, serverOptions, UsageError } from "../../command-line/arguments.ts";
import type { FlagValues, LISTEN_FLAGS, SERVER_FLAGS } from "../../command-line/flags.ts";

/** What `--no-token` means; the sandbox leaves the network to agents, and to commands that may have it. */
const OPEN_PORT =
  "flint: without a token, anything on this machine that can reach the port, agents and commands with network included, may act as you\n";

type Values = FlagValues<typeof SERVER_FLAGS & typeof LISTEN_FLAGS>;

/** `flint serve --listen`: serves everybody who may come in until a signal ends it; turns outlive their clients. */
export async function serveListeners(values: Values): Promise<number> {
  const addresses = addressesOf(values);
  const idleMs = idleMsOf(values, addresses);
  const plan = planOf(values, addresses);
  const options = await serverOptions(values);
  const secrets = plan.token === undefined ? [] : [readToken(plan.token.path)];
  const ownSockets = addresses.flatMap((address) => (address.kind === "unix" ? [address.path] : []));
  const engine = composeEngine({ ...options, secrets, ownSockets });
  redactErrors((text) => engine.redact(text));
  const frontends = new Frontends(engine, options);
  const stopping = signalled();
  const presence = values.alone === true ? undefined : { folder: stateFolder(), cwd: options.cwd };
  const allowRemoteMcp = values["allow-remote-mcp"] ?? options.allowRemoteMcp;
  const listening = await openOrClose(engine, frontends, { ...plan, allowRemoteMcp, presence });
  const clients: Clients[] = [listening];
  if (addresses.some(({ kind }) => kind === "stdio")) {
    const open = await frontends.open(plan.door);
    clients.push(open.connect(stdioTransport()));
  }
  if (presence !== undefined && addresses.some(({ kind }) => kind === "local")) {
    process.stderr.write(localText(presence.folder, plan.door, values.json === true));
  }
  const policy = (options.sandboxPolicy ?? USUAL_POLICIES.sandboxPolicy).type;
  for (const place of listening.places) process.stderr.write(placeText(place, policy, values.json === true));
  if (addresses.some(({ kind }) => kind === "webSocket") && plan.token === undefined) {
    process.stderr.write(OPEN_PORT);
  }
  await Promise.race(
    idleMs === undefined ? [stopping] : [stopping, unused(listening, engine, SYSTEM_CLOCK, idleMs)],
  );
  await endServer(engine, clients);
  return 0;
}

async function openOrClose(engine: Engine, frontends: Frontends, plan: ListenPlan): Promise<Listening> {
  try {
    return await Listening.start(frontends, plan, SYSTEM_CLOCK);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function addressesOf({ listen = [], stdio }: Values): ListenAddress[] {
  const addresses = listen.map((text) => {
    const reading = readAddress(text);
    if (!reading.ok) throw new UsageError(reading.reason);
    return reading.address;
  });
  const hasStdio = addresses.some(({ kind }) => kind === "stdio");
  return stdio === true && !hasStdio ? [{ kind: "stdio" }, ...addresses] : addresses;
}

function planOf(
  values: Values,
  all: readonly ListenAddress[],
): Omit<ListenPlan, "presence" | "allowRemoteMcp"> {
  const addresses = all.flatMap((address) =>
    address.kind === "stdio" || address.kind === "local" ? [] : [address],
  );
  const door = doorNamed(values.door);
  return {
    addresses,
    door: door ?? DEFAULT_FRONTEND,
    root: door ?? ROOT_FRONTEND,
    token: tokenFor(values, addresses),
    allowOrigins: values["allow-origin"] ?? [],
    allowHosts: values["allow-host"] ?? [],
  };
}

function tokenFor(values: Values, addresses: ListenPlan["addresses"]): TokenFile | undefined {
  const ports = addresses.filter(({ kind }) => kind === "webSocket");
  const file = values["token-file"];
  if (values["no-token"] === true) {
    if (file !== undefined) throw new UsageError("--no-token and --token-file exclude each other.");
    const open = addresses.find((address) => address.kind === "webSocket" && !isLoopback(address.host));
    if (open === undefined) return undefined;
    throw new UsageError(
      "--no-token is only for 127.0.0.1, [::1] and localhost: elsewhere, whoever reaches the port could run commands as you.",
    );
  }
  return ports.length === 0
    ? undefined
    : TokenFile.open(file === undefined ? usualTokenFile(stateFolder()) : resolve(file));
}

/** How long the server waits for clients before it ends; undefined if it waits for ever. */
function idleMsOf(
  { alone, "idle-exit": text }: Values,
  addresses: readonly ListenAddress[],
): number | undefined {
  const kinds = addresses.map(({ kind }) => kind);
  if (alone === true && kinds.every((kind) => kind === "local")) {
    throw new UsageError("--listen local and --alone exclude each other: nobody could come.");
  }
  if (text === undefined) return undefined;
  if (kinds.includes("stdio")) throw new UsageError("--idle-exit is not for a server on stdin and stdout.");
  const seconds = idleSeconds(text);
  return seconds === 0 ? undefined : seconds * 1000;
}

function localText(folder: string, door: FrontendName, json: boolean): string {
  if (json) return `${JSON.stringify({ listening: "local", door, tokenFile: null })}\n`;
  return `flint: flint connect and flint serve --stdio find this server in ${folder}\n`;
}

/** What is said about an open listener; the token itself is never printed. */
function placeText({ place, door, tokenFile }: OpenPlace, policy: PolicyName, json: boolean): string {
  if (json) return `${JSON.stringify({ listening: place, door, tokenFile: tokenFile ?? null })}\n`;
  if (place.startsWith("unix:")) return `flint: listening at ${place} (${door} door)\n`;
  const paths = FRONTEND_NAMES.map((name) => `/${name}`).join(", ");
  const secret = tokenFile === undefined ? "no token" : `the token is in ${tokenFile}`;
  const line = `flint: listening at ${place} (${door} door at /, others at ${paths}); ${secret}\n`;
  // Without a word before it, so that it can be pasted.
  return door === "codex" ? `${line}${codexLine(place, policy, tokenFile)}\n` : line;
}

type PolicyName = SandboxPolicy["type"];

/**
 * What Codex calls the policy of the server. The TUI (0.166.0) asks for read-only threads in every folder that it was not
 * told to trust, and never asks its user about a remote one; so the line says what the server would have given.
 */
const CODEX_SANDBOX: Readonly<Record<PolicyName, string>> = {
  readOnly: " --sandbox read-only",
  workspaceWrite: " --sandbox workspace-write",
  dangerFullAccess: " --sandbox danger-full-access",
  externalSandbox: "",
};

/** How the Codex TUI is started on this server. */
function codexLine(place: string, policy: PolicyName, tokenFile: string | undefined): string {
  const sandbox = CODEX_SANDBOX[policy];
  if (tokenFile === undefined) return `codex --remote ${place}${sandbox}`;
  const token = `FLINT_TOKEN="$(cat ${shellWord(tokenFile)})"`;
  return `${token} codex --remote ${place} --remote-auth-token-env FLINT_TOKEN${sandbox}`;
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
