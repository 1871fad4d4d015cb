import { readRunningServer } from "@flint/sdk";
import { setting, stateFolder } from "@flint/server/environment";
import { DEFAULT_FRONTEND, type FrontendName } from "@flint/server/frontends";
import {
  type BridgeEnd,
  bridgeLines,
  bridgeSocket,
  connectRunning,
  stdioEnd,
} from "@flint/server/single-instance";
import { noArguments, UsageError } from "../../command-line/command.ts";
import { DEFAULT_IDLE_SECONDS } from "../../command-line/flags.ts";
import { printError } from "../../command-line/output.ts";
import { idleSeconds, protocolNamed } from "../../command-line/server-options.ts";

const START = "Start one with flint connect --start, or flint serve --listen ws://127.0.0.1:4747.";

interface ConnectArguments {
  readonly values: {
    readonly protocol?: string | undefined;
    readonly url?: string | undefined;
    readonly "token-file"?: string | undefined;
    readonly start?: boolean | undefined;
    readonly "idle-exit"?: string | undefined;
  };
  readonly positionals: readonly string[];
}

/** `flint connect`: bridges stdin and stdout to a running server, on this machine or elsewhere. */
export async function connect({ values, positionals }: ConnectArguments): Promise<number> {
  noArguments("connect", positionals);
  const protocol = protocolNamed(values.protocol);
  const { url, start, "token-file": tokenFile, "idle-exit": idle } = values;
  if (url !== undefined && start === true) {
    throw new UsageError(
      "--start and --url cannot be used together: --start starts a server on this machine.",
    );
  }
  if (idle !== undefined && start !== true) throw new UsageError("--idle-exit works only with --start.");
  if (url !== undefined && !/^wss?:\/\//i.test(url)) {
    throw new UsageError(`--url must start with ws:// or wss://, not ${JSON.stringify(url)}.`);
  }
  if (url !== undefined) return connectTo(url, protocol, tokenFile);
  if (tokenFile !== undefined)
    throw new UsageError("--token-file works only with --url; the local server needs no token.");
  const idleFor = idle === undefined ? DEFAULT_IDLE_SECONDS : idleSeconds(idle);
  return connectHere(protocol ?? DEFAULT_FRONTEND, start === true ? idleFor : undefined);
}

/** Connects to the server of the state folder. With an idle time, one is started if none is running. */
async function connectHere(protocol: FrontendName, idleFor: number | undefined): Promise<number> {
  const folder = stateFolder();
  const options = { protocol, cwd: process.cwd() };
  const running = readRunningServer(folder);
  const connected = running === undefined ? undefined : await connectRunning(running, options);
  if (connected?.ok === true) return ended(await bridgeSocket(connected.socket, stdioEnd()));
  if (idleFor === undefined) {
    return printError(`${connected?.reason ?? `No server is running for ${folder}.`} ${START}`, 1);
  }
  const { startAndConnect } = await import("@flint/server/single-instance");
  const flint = [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)];
  const started = await startAndConnect({ folder, flint, idleSeconds: idleFor, cwd: options.cwd }, options);
  return started.ok ? ended(await bridgeSocket(started.socket, stdioEnd())) : printError(started.reason, 1);
}

async function connectTo(
  text: string,
  protocol: FrontendName | undefined,
  file: string | undefined,
): Promise<number> {
  const { connectRemote } = await import("@flint/server/listeners");
  const remote = await connectRemote({
    url: text,
    protocol,
    tokenFile: file,
    token: setting("FLINT_TOKEN"),
    folder: stateFolder(),
  });
  if (!remote.ok) return printError(remote.reason, 1);
  return ended(await bridgeLines(remote.transport, stdioEnd()));
}

function ended(end: BridgeEnd): number {
  return end === "client" ? 0 : printError("The server closed the connection.", 1);
}
