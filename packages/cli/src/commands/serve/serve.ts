import { resolve } from "node:path";
import type { Frontend } from "@flint/frontends";
import type { Lock, LockAttempt } from "@flint/host/store";
import { stateFolder } from "@flint/server/environment";
import { DEFAULT_FRONTEND, FRONTENDS, type FrontendName } from "@flint/server/frontends";
import { composeEngine, type StdioOptions, serveStdio } from "@flint/server/serve";
import type { Joined, Joining } from "@flint/server/single-instance";
import {
  doorNamed,
  noArguments,
  type PlacedOptions,
  serverOptions,
  shapesServer,
} from "../../command-line/arguments.ts";
import type { Given } from "../../command-line/command.ts";
import type { LISTEN_FLAGS, SERVER_FLAGS } from "../../command-line/flags.ts";
import { complain } from "../../command-line/output.ts";

type ServeFlags = typeof SERVER_FLAGS & typeof LISTEN_FLAGS;

/** `flint serve` and `flint app-server`: a server for the client on stdin and stdout, for listeners, or for both. */
export async function serve({ values, positionals }: Given<ServeFlags>): Promise<number> {
  noArguments("serve", positionals);
  if (values.listen !== undefined) return (await import("./listen.ts")).serveListeners(values);
  const door = doorNamed(values.door) ?? DEFAULT_FRONTEND;
  const isPlain = values.alone !== true && !shapesServer(values);
  // Beside the configuration: both are needed before the first answer.
  const claiming = isPlain ? claim() : undefined;
  claiming?.catch(() => undefined);
  // Loaded beside it as well; whoever joins another server does not need it.
  const reading = serverOptions(values);
  const frontend = FRONTENDS[door](reading);
  // A configuration that cannot be read is told by whoever reads it.
  frontend.catch(() => undefined);
  const options = await reading;
  if (!isPlain) return serveOwn(await frontend, { door, options, lock: undefined });
  const standing = await standingOf(claiming, { folder: stateFolder(), door, cwd: resolve(options.cwd) });
  if ("code" in standing) return standing.code;
  return serveOwn(await frontend, { door, options, lock: standing.lock });
}

type Claiming = Promise<LockAttempt>;

/** What this process is: a client that has been served by another one, or a server; with the lock, one that others join. */
type Standing = { readonly code: number } | { readonly lock: Lock | undefined };

async function standingOf(claiming: Claiming | undefined, joining: Joining): Promise<Standing> {
  // Expected: a state folder that cannot be written. This client is served all the same.
  try {
    const claimed = await claiming;
    if (claimed === undefined || "lock" in claimed) return { lock: claimed?.lock };
    const { joinOrClaim } = await import("@flint/server/single-instance");
    return standingAfter(await joinOrClaim(joining), joining.folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    complain(`others cannot join this server: ${reason}`, 0);
    return { lock: undefined };
  }
}

function standingAfter(joined: Joined | { readonly lock: Lock }, folder: string): Standing {
  if ("lock" in joined) return joined;
  const { end, ...refused } = joined;
  if (end === "client") return { code: 0 };
  if (end === "server")
    return { code: complain("The server that this one had joined ended the connection.", 1) };
  if ("reason" in refused) complain(`The server for ${folder} is not joined: ${refused.reason}.`, 0);
  return { lock: undefined };
}

async function claim(): Claiming {
  const { claimServer } = await import("@flint/server/single-instance");
  return claimServer(stateFolder());
}

interface Own {
  readonly door: FrontendName;
  readonly options: PlacedOptions;
  /** That of the state folder, if others may join. */
  readonly lock: Lock | undefined;
}

async function serveOwn(frontend: Frontend, { door: name, options, lock }: Own): Promise<number> {
  const engine = composeEngine(options);
  if (lock === undefined) {
    await serveStdio(engine, frontend);
    return 0;
  }
  const host = { engine, name, folder: stateFolder(), cwd: options.cwd, settings: options, lock };
  const company: StdioOptions["company"] = async (door) =>
    (await import("@flint/server/shared-server")).keepCompany(host, door);
  await serveStdio(engine, frontend, { company });
  return 0;
}
