import type { Engine } from "@flint/core";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import type { Frontend } from "@flint/frontends";
import type { Lock } from "@flint/host/store";
import { type FrontendName, type FrontendSettings, Frontends, ROOT_FRONTEND } from "../frontends.ts";
import { Listening } from "../listeners/listening.ts";
import type { Company } from "../serve-stdio.ts";

/** A server on stdio that others may join. */
export interface Host {
  readonly engine: Engine;
  readonly name: FrontendName;
  /** The state folder to be found in. */
  readonly folder: string;
  readonly cwd: string;
  /** The lock of the folder. */
  readonly lock: Lock;
  /** What the user chose about front ends. */
  readonly settings: FrontendSettings;
}

/** Lets others find and join the server of stdio. Undefined, and told on stderr, if they cannot. */
export async function keepCompany(host: Host, frontend: Frontend): Promise<Company | undefined> {
  const frontends = new Frontends(host.engine, host.settings);
  void frontends.adopt(host.name, frontend);
  const { folder, cwd, lock, name } = host;
  const bare = { addresses: [], token: undefined, allowOrigins: [], allowHosts: [] };
  try {
    return await Listening.start(
      frontends,
      { ...bare, door: name, root: ROOT_FRONTEND, presence: { folder, cwd, lock } },
      SYSTEM_CLOCK,
    );
  } catch (error) {
    // A state folder that cannot be written: this client is served all the same, and hears of it when it matters.
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`flint: others cannot join this server: ${reason}\n`);
    return undefined;
  }
}
