import { readRunning } from "@flint/sdk";
import { setting, stateFolder } from "@flint/server/environment";
import { DEFAULT_FRONTEND, type FrontendName } from "@flint/server/frontends";
import { type BridgeEnd, bridgeLines, bridgeSocket, meet, standardEnds } from "@flint/server/single-instance";
import { doorNamed, idleSeconds, noArguments, UsageError } from "../../command-line/arguments.ts";
import { USUAL_IDLE_SECONDS } from "../../command-line/flags.ts";
import { complain } from "../../command-line/output.ts";

const START = "Start one: flint connect --start, or flint serve --listen ws://127.0.0.1:4747";

interface ConnectArguments {
  readonly values: {
    readonly door?: string | undefined;
    readonly url?: string | undefined;
    readonly "token-file"?: string | undefined;
    readonly start?: boolean | undefined;
    readonly "idle-exit"?: string | undefined;
  };
  readonly positionals: readonly string[];
}

/** `flint connect`: carries stdin and stdout to a server that runs, on this machine or elsewhere. */
export async function connect({ values, positionals }: ConnectArguments): Promise<number> {
  noArguments("connect", positionals);
  const door = doorNamed(values.door);
  const { url, start, "token-file": tokenFile, "idle-exit": idle } = values;
  if (url !== undefined && start === true) {
    throw new UsageError("--start starts a server on this machine; it does not go with --url.");
  }
  if (idle !== undefined && start !== true) throw new UsageError("--idle-exit goes with --start.");
  if (url !== undefined && !/^wss?:\/\//i.test(url)) {
    throw new UsageError(`--url takes ws:// or wss://; not ${JSON.stringify(url)}.`);
  }
  if (url !== undefined) return connectTo(url, door, tokenFile);
  if (tokenFile !== undefined)
    throw new UsageError("--token-file goes with --url; the local server needs none.");
  const idleFor = idle === undefined ? USUAL_IDLE_SECONDS : idleSeconds(idle);
  return connectHere(door ?? DEFAULT_FRONTEND, start === true ? idleFor : undefined);
}

/** With a time to wait for clients, a server is started if none can be met. */
async function connectHere(door: FrontendName, idleFor: number | undefined): Promise<number> {
  const folder = stateFolder();
  const wish = { door, cwd: process.cwd() };
  const running = readRunning(folder);
  const meeting = running === undefined ? undefined : await meet(running, wish);
  if (meeting?.ok === true) return ended(await bridgeSocket(meeting.socket, standardEnds()));
  if (idleFor === undefined) {
    return complain(`${meeting?.reason ?? `No server runs for ${folder}.`} ${START}`, 1);
  }
  const { startAndMeet } = await import("@flint/server/single-instance");
  const flint = [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)];
  const started = await startAndMeet({ folder, flint, idleSeconds: idleFor, cwd: wish.cwd }, wish);
  return started.ok ? ended(await bridgeSocket(started.socket, standardEnds())) : complain(started.reason, 1);
}

async function connectTo(
  text: string,
  door: FrontendName | undefined,
  file: string | undefined,
): Promise<number> {
  const { openRemote } = await import("@flint/server/listeners");
  const remote = await openRemote({
    url: text,
    door,
    tokenFile: file,
    token: setting("FLINT_TOKEN"),
    folder: stateFolder(),
  });
  if (!remote.ok) return complain(remote.reason, 1);
  return ended(await bridgeLines(remote.transport, standardEnds()));
}

function ended(end: BridgeEnd): number {
  return end === "client" ? 0 : complain("The server ended the connection.", 1);
}
