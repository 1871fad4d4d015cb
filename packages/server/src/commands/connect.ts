import { setting, stateFolder } from "../config.ts";
import { type DoorName, USUAL_DOOR } from "../doors.ts";
import { type BridgeEnd, bridgeLines, bridgeSocket, standardEnds } from "../listeners/bridge.ts";
import { meet, readRunning } from "../listeners/running-server.ts";
import { doorNamed, noArguments, UsageError } from "./arguments.ts";
import { complain } from "./output.ts";

const START = "Start one: flint serve --listen ws://127.0.0.1:4747";

interface ConnectArguments {
  readonly values: {
    readonly door?: string | undefined;
    readonly url?: string | undefined;
    readonly "token-file"?: string | undefined;
  };
  readonly positionals: readonly string[];
}

/** `flint connect`: carries stdin and stdout to a server that runs, on this machine or elsewhere. */
export async function connect({ values, positionals }: ConnectArguments): Promise<number> {
  noArguments("connect", positionals);
  const door = doorNamed(values.door);
  const tokenFile = values["token-file"];
  if (values.url !== undefined) return connectTo(values.url, door, tokenFile);
  if (tokenFile !== undefined)
    throw new UsageError("--token-file goes with --url; the local server needs none.");
  return connectHere(door ?? USUAL_DOOR);
}

async function connectHere(door: DoorName): Promise<number> {
  const folder = stateFolder();
  const running = readRunning(folder);
  if (running === undefined) return complain(`No server runs for ${folder}. ${START}`, 1);
  const meeting = await meet(running, door);
  if (!meeting.ok) return complain(`${meeting.reason} ${START}`, 1);
  return ended(await bridgeSocket(meeting.socket, standardEnds()));
}

async function connectTo(
  text: string,
  door: DoorName | undefined,
  file: string | undefined,
): Promise<number> {
  const { openRemote } = await import("../listeners/remote.ts");
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
