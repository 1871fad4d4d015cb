import type { Engine } from "@flint/core";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import type { Door } from "@flint/dialects";
import { type DoorName, OpenDoors, ROOT_DOOR } from "../doors.ts";
import type { Company } from "../serve-stdio.ts";
import { AlreadyRunning, Listening } from "./listening.ts";

/** A server on stdio that others may join. */
export interface Host {
  readonly engine: Engine;
  readonly name: DoorName;
  /** The state folder to be found in. */
  readonly folder: string;
  readonly cwd: string;
}

/** Lets others find and join the server of stdio. Undefined if they cannot: another one is the server of the folder. */
export async function keepCompany(host: Host, door: Door): Promise<Company | undefined> {
  const doors = new OpenDoors(host.engine);
  doors.adopt(host.name, door);
  const { folder, cwd, name } = host;
  const bare = { addresses: [], token: undefined, allowOrigins: [], allowHosts: [] };
  try {
    return await Listening.start(
      doors,
      { ...bare, door: name, root: ROOT_DOOR, presence: { folder, cwd } },
      SYSTEM_CLOCK,
    );
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) {
      // A state folder that cannot be written: this client is served all the same, and hears of it when it matters.
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`flint: others cannot join this server: ${reason}\n`);
    }
    return undefined;
  }
}
