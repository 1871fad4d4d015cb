import { untilAborted } from "@flint/core/async";
import type { ParamsInput } from "@flint/protocol";
import type { ClientConnectOptions } from "@flint/sdk";
import { stateFolder } from "@flint/server/environment";
import type { NewThreadSettings, SessionServer } from "@flint/tui";
import { DEFAULT_IDLE_SECONDS } from "../../command-line/flags.ts";
import type { PlacedOptions, ServerFlagValues } from "../../command-line/server-options.ts";
import { VERSION } from "../../version.ts";
import type { ExecOptions } from "../exec/options.ts";

/** The limits that were given on the command line. */
type GivenLimits = Partial<Pick<ExecOptions, "limits" | "enforcement">>;

/** The settings of the threads that a session starts: those of the command line, the folder and the configuration. */
export async function sessionSettings(
  options: PlacedOptions,
  given: GivenLimits = {},
): Promise<NewThreadSettings> {
  const { permissionsIn, turnBudget } = await import("../exec/settings.ts");
  const {
    sandboxPolicy,
    budget: configured,
    model,
    ...permissions
  } = await permissionsIn(options.cwd, options);
  const hasLimits = given.limits !== undefined || given.enforcement !== undefined;
  const budget = hasLimits ? turnBudget(configured, given, undefined) : configured;
  const settings: ParamsInput<"thread/start"> = { cwd: options.cwd, ...permissions, sandbox: sandboxPolicy };
  return {
    ...settings,
    ...(model === undefined ? {} : { model }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** An approval stays open until it is answered here or elsewhere: answers are sent by method. */
const CLIENT: ClientConnectOptions = {
  capabilities: { threadList: true },
  clientInfo: { name: "flint", title: "a terminal session", version: VERSION },
  onApproval: (_request, { signal }) => untilAborted(signal).then(() => "leave"),
  onQuestion: (_request, { signal }) => untilAborted(signal).then(() => "leave"),
};

/**
 * Opens the server of a session: the running one, or one that is started in the background. A server of its own, in this
 * process, if an option configures the server or the running one has other settings.
 */
export function serverOpener(options: PlacedOptions, flags: ServerFlagValues): () => Promise<SessionServer> {
  return async () => {
    const { ownServerFlags } = await import("../local-server.ts");
    const own = ownServerFlags(flags, options);
    if (own.length > 0)
      return ownServer(options, `This session runs its own server because of ${own.join(" and ")}`);
    const joined = await join(options);
    if ("client" in joined) return joined;
    if (joined.reason === undefined) return startShared(options);
    return ownServer(options, `Not using the running server: ${joined.reason}`);
  };
}

async function join({
  cwd,
}: PlacedOptions): Promise<SessionServer | { readonly reason: string | undefined }> {
  const { connectShared } = await import("@flint/server/single-instance");
  const shared = await connectShared({ ...CLIENT, folder: stateFolder(), cwd, sameSettings: true });
  const { client } = shared;
  if (client === undefined) return { reason: shared.reason };
  return { client, isShared: true, close: () => client.close() };
}

async function startShared(options: PlacedOptions): Promise<SessionServer> {
  const { startAndConnect } = await import("@flint/server/single-instance");
  const flint = [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)];
  const server = { folder: stateFolder(), flint, idleSeconds: DEFAULT_IDLE_SECONDS, cwd: options.cwd };
  const started = await startAndConnect(server, { protocol: "flint", cwd: options.cwd });
  if (!started.ok) throw new Error(started.reason);
  // It accepts clients now; this connection was only to see that.
  started.socket.destroy();
  const joined = await join(options);
  if ("client" in joined) return joined;
  return ownServer(options, `The background server could not be used: ${joined.reason ?? "it has exited"}`);
}

async function ownServer(options: PlacedOptions, why: string): Promise<SessionServer> {
  const { embed } = await import("@flint/server/embed");
  const { client, close } = await embed(options, CLIENT);
  return { client, isShared: false, notice: `${why}. Closing the session ends a running turn.`, close };
}
