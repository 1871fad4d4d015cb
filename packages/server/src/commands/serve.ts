import { existsSync } from "node:fs";
import type { AnyDialect } from "@flint/dialects";
import { composeEngine } from "../compose.ts";
import { serverFile, stateFolder } from "../config.ts";
import { DOORS, type DoorName, FOLDER_NAMING_DOORS, USUAL_DOOR } from "../doors.ts";
import { type StdioOptions, serveStdio } from "../serve-stdio.ts";
import { doorNamed, noArguments, type PlacedOptions, serverOptions, shapesServer } from "./arguments.ts";
import type { Given } from "./command.ts";
import type { LISTEN_FLAGS, SERVER_FLAGS } from "./flags.ts";
import { complain } from "./output.ts";

type ServeFlags = typeof SERVER_FLAGS & typeof LISTEN_FLAGS;

/** `flint serve` and `flint app-server`: a server for the client on stdin and stdout, for listeners, or for both. */
export async function serve({ values, positionals }: Given<ServeFlags>): Promise<number> {
  noArguments("serve", positionals);
  if (values.listen !== undefined) return (await import("./serve-listeners.ts")).serveListeners(values);
  const door = doorNamed(values.door) ?? USUAL_DOOR;
  // Loaded beside the configuration; whoever joins another server does not need it.
  const dialect = DOORS[door]();
  const options = await serverOptions(values);
  const isPlain = values.alone !== true && !shapesServer(values);
  const joined = isPlain ? await joinOther(door, options) : undefined;
  return joined ?? serveAlone(await dialect, { door, options, isOpen: isPlain });
}

/** Becomes a client of the server that runs already for the state folder. Undefined if there is none to join. */
async function joinOther(door: DoorName, { cwd }: PlacedOptions): Promise<number | undefined> {
  const folder = stateFolder();
  // One look at the disk: the usual start pays for nothing more.
  if (!existsSync(serverFile(folder))) return undefined;
  const namesFolders = FOLDER_NAMING_DOORS.includes(door);
  const { joinRunning } = await import("../listeners/join.ts");
  const { end, ...refused } = await joinRunning({ folder, door, cwd: namesFolders ? undefined : cwd });
  if (end === "client") return 0;
  if (end === "server") return complain("The server that this one had joined ended the connection.", 1);
  if ("reason" in refused) complain(`The server for ${folder} is not joined: ${refused.reason}.`, 0);
  return undefined;
}

interface Own {
  readonly door: DoorName;
  readonly options: PlacedOptions;
  /** Whether others may join. */
  readonly isOpen: boolean;
}

async function serveAlone(dialect: AnyDialect, { door: name, options, isOpen }: Own): Promise<number> {
  const engine = composeEngine(options);
  const host = { engine, name, folder: stateFolder(), cwd: options.cwd };
  const company: StdioOptions["company"] = async (door) =>
    (await import("../listeners/company.ts")).keepCompany(host, door);
  await serveStdio(engine, dialect, isOpen ? { company } : {});
  return 0;
}
