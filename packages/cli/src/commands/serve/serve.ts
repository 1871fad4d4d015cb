import { resolve } from "node:path";
import type { Frontend } from "@flint/frontends";
import type { Lock } from "@flint/host/lock";
import { errorMessage } from "@flint/protocol";
import { stateFolder } from "@flint/server/environment";
import { DEFAULT_FRONTEND, FRONTENDS, type FrontendName } from "@flint/server/frontends";
import { composeEngine, type StdioOptions, serveStdio } from "@flint/server/serve";
import type { Joined, JoinOptions } from "@flint/server/single-instance";
import { noArguments, type ParsedArguments } from "../../command-line/command.ts";
import type { LISTEN_FLAGS, SERVER_FLAGS } from "../../command-line/flags.ts";
import { printError } from "../../command-line/output.ts";
import {
  configuresServer,
  type PlacedOptions,
  protocolNamed,
  serverOptions,
} from "../../command-line/server-options.ts";

type ServeFlags = typeof SERVER_FLAGS & typeof LISTEN_FLAGS;

/** `flint serve` and `flint app-server`: serves a client on stdin and stdout, clients of listeners, or both. */
export async function serve({ values, positionals }: ParsedArguments<ServeFlags>): Promise<number> {
  noArguments("serve", positionals);
  if (values.listen !== undefined) return (await import("./listen.ts")).serveListeners(values);
  const protocol = protocolNamed(values.protocol) ?? DEFAULT_FRONTEND;
  const options = await serverOptions(values);
  const frontend = await FRONTENDS[protocol](options);
  if (values.alone === true || configuresServer(values)) {
    return serveOwn(frontend, { protocol, options, lock: undefined });
  }
  const role = await claimRole({ folder: stateFolder(), protocol, cwd: resolve(options.cwd) });
  if ("exitCode" in role) return role.exitCode;
  const { lock, notice } = role;
  return serveOwn(frontend, { protocol, options: { ...options, notice }, lock });
}

/** A client that another server has served, or a server; with the lock, other clients can join it. */
type Role = { readonly exitCode: number } | { readonly lock: Lock | undefined; readonly notice?: string };

async function claimRole(joining: JoinOptions): Promise<Role> {
  // Expected: a state folder that cannot be written. This client is served all the same.
  try {
    const { claimServer } = await import("@flint/server/claim");
    const claimed = await claimServer(joining.folder);
    if ("lock" in claimed) return claimed;
    const { joinOrClaim } = await import("@flint/server/single-instance");
    return roleAfter(await joinOrClaim(joining), joining.folder);
  } catch (error) {
    return aloneBecause(`Other clients cannot join this server: ${errorMessage(error)}`);
  }
}

function roleAfter(joined: Joined | { readonly lock: Lock }, folder: string): Role {
  if ("lock" in joined) return joined;
  const { end, ...refused } = joined;
  if (end === "client") return { exitCode: 0 };
  if (end === "server") return { exitCode: printError("The server closed the connection.", 1) };
  if (!("reason" in refused)) return { lock: undefined };
  return aloneBecause(
    `Not joining the server for ${folder}: ${refused.reason}. Other clients cannot see these threads live; flint server stop ends that server.`,
  );
}

/** The client learns it in its own protocol; stderr is for clients that show that. */
function aloneBecause(notice: string): Role {
  printError(notice, 0);
  return { lock: undefined, notice };
}

interface Own {
  readonly protocol: FrontendName;
  readonly options: PlacedOptions;
  /** The lock of the state folder, if other clients may join. */
  readonly lock: Lock | undefined;
}

async function serveOwn(frontend: Frontend, { protocol: name, options, lock }: Own): Promise<number> {
  const engine = composeEngine(options);
  if (lock === undefined) {
    await serveStdio(engine, frontend);
    return 0;
  }
  const server = { engine, name, folder: stateFolder(), cwd: options.cwd, settings: options, lock };
  const share: StdioOptions["share"] = async (served) =>
    (await import("@flint/server/listening")).shareServer(server, served);
  await serveStdio(engine, frontend, { share });
  return 0;
}
