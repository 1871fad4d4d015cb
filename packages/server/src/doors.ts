import type { Engine } from "@flint/core";
import type { AnyDialect, ClientRights, Connection, Door } from "@flint/frontends";
import type { Transport } from "@flint/rpc";
import { lastSessionsFile, stateFolder } from "./config/environment.ts";
import type { ServerOptions } from "./server-options.ts";

/** What a user chooses about doors. */
export type DoorSettings = Pick<ServerOptions, "autoResume">;

/** Every door there is, by the name that flags, paths and the meeting socket know it by; each loaded with its first client. */
export const DOORS = {
  flint: async () => (await import("@flint/frontends/flint")).flintDialect,
  harness: async () => (await import("@flint/frontends/harness")).harnessDialect,
  codex: async () => {
    const [{ codexDialect }, { codexHost }] = await Promise.all([
      import("@flint/frontends/codex"),
      import("./codex-host/codex-host.ts"),
    ]);
    return codexDialect(codexHost());
  },
  acp: async (settings = {}) => {
    const [{ acpDialect }, { LastSessionsFile }, { autoResume }] = await Promise.all([
      import("@flint/frontends/acp"),
      import("./last-sessions.ts"),
      settings,
    ]);
    return acpDialect({ autoResume, lastSessions: new LastSessionsFile(lastSessionsFile(stateFolder())) });
  },
} as const satisfies Readonly<Record<string, LoadDialect>>;

/** Loads a door. Settings may still be on their way; a door that has none does not wait for them. */
type LoadDialect = (settings?: DoorSettings | Promise<DoorSettings>) => Promise<AnyDialect>;

/** What is known of a client by the way it came. */
export interface ClientTraits {
  /** What it may do; everything that its user may, if absent. */
  readonly rights?: ClientRights | undefined;
  /** Where it works when it names no folder; where the server does, if absent. */
  readonly cwd?: string | undefined;
}

/** The name of a door. */
export type DoorName = keyof typeof DOORS;

/** The names of all doors. */
export const DOOR_NAMES = Object.keys(DOORS).filter(isDoorName);

/** The door of a client that names none on stdio and unix sockets. */
export const USUAL_DOOR: DoorName = "flint";

/** The door at the root of a WebSocket listener. */
export const ROOT_DOOR: DoorName = "codex";

/** Whether there is a door of this name. */
export function isDoorName(name: string): name is DoorName {
  return Object.hasOwn(DOORS, name);
}

/** The doors of one engine. All clients of a door share it, so that events are encoded once for all of them. */
export class OpenDoors {
  readonly #engine: Engine;
  readonly #load: (name: DoorName) => Promise<Door>;
  readonly #open = new Map<DoorName, Promise<Door>>();

  constructor(engine: Engine, load: (name: DoorName) => Promise<Door> = doorsWith({})) {
    this.#engine = engine;
    this.#load = load;
  }

  /** Loads a door; later calls give the same one. One that could not be loaded is tried again by the next call. */
  open(name: DoorName): Promise<Door> {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const opening = this.#load(name);
    this.#open.set(name, opening);
    // Whoever awaits it hears why.
    opening.catch(() => {
      if (this.#open.get(name) === opening) this.#open.delete(name);
    });
    return opening;
  }

  /** Takes over a door that is open already. */
  adopt(name: DoorName, door: Door): void {
    this.#open.set(name, Promise.resolve(door));
  }

  /** Serves one client at a door until it leaves. */
  connect(door: Door, transport: Transport, client: ClientTraits = {}): Connection {
    return door.connect(this.#engine, transport, client);
  }
}

/** Loads doors as the user wants them. */
export function doorsWith(settings: DoorSettings): (name: DoorName) => Promise<Door> {
  return async (name) => {
    const [{ Door: DoorOf }, dialect] = await Promise.all([
      import("@flint/frontends"),
      DOORS[name](settings),
    ]);
    return new DoorOf(dialect);
  };
}
