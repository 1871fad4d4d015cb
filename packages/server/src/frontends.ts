import type { Engine } from "@flint/core";
import type { ClientConnection, ClientRights, Frontend } from "@flint/frontends";
import type { Transport } from "@flint/rpc";
import { agentLogins } from "./config/agents.ts";
import { lastSessionsFile, stateFolder } from "./config/environment.ts";
import type { ServerOptions } from "./server-options.ts";

/** What a user chooses about front ends. */
export type FrontendSettings = Pick<ServerOptions, "autoResume">;

/** Every front end, by the name that flags, paths and the rendezvous socket know it by; each loaded with its first client. */
export const FRONTENDS = {
  flint: async (): Promise<Frontend> => (await import("@flint/frontends/flint")).flintFrontend(),
  harness: async (): Promise<Frontend> => (await import("@flint/frontends/harness")).harnessFrontend(),
  codex: async (): Promise<Frontend> => {
    const [{ codexFrontend }, { codexHost }] = await Promise.all([
      import("@flint/frontends/codex"),
      import("./codex-host/codex-host.ts"),
    ]);
    return codexFrontend(codexHost());
  },
  acp: async (settings = {}): Promise<Frontend> => {
    const [{ acpFrontend }, { LastSessionsFile }, { autoResume }] = await Promise.all([
      import("@flint/frontends/acp"),
      import("./state/last-sessions.ts"),
      settings,
    ]);
    const lastSessions = new LastSessionsFile(lastSessionsFile(stateFolder()));
    return acpFrontend({ autoResume, lastSessions, logins: agentLogins() });
  },
} as const satisfies Readonly<Record<string, LoadFrontend>>;

/** Loads a front end. Settings may still be on their way; a front end that has none does not wait for them. */
type LoadFrontend = (settings?: FrontendSettings | Promise<FrontendSettings>) => Promise<Frontend>;

/** What is known of a client by the way it connected. */
export interface ClientTraits {
  /** What it may do; everything that its user may, if absent. */
  readonly rights?: ClientRights | undefined;
  /** Where it works when it names no folder; where the server does, if absent. */
  readonly cwd?: string | undefined;
}

/** The name of a front end. */
export type FrontendName = keyof typeof FRONTENDS;

/** The names of all front ends. */
export const FRONTEND_NAMES = Object.keys(FRONTENDS).filter(isFrontendName);

/** The front end of a client that names none on stdio and unix sockets. */
export const DEFAULT_FRONTEND: FrontendName = "flint";

/** The front end at the root of a WebSocket listener. */
export const ROOT_FRONTEND: FrontendName = "codex";

/** Whether there is a front end of this name. */
export function isFrontendName(name: string): name is FrontendName {
  return Object.hasOwn(FRONTENDS, name);
}

/** A front end that is loaded, for the clients of one engine. */
export interface OpenFrontend {
  readonly frontend: Frontend;
  /** Serves one client until it leaves. */
  connect(transport: Transport, client?: ClientTraits): ClientConnection;
}

/** The front ends of one engine. All clients of a front end share it, so that events are encoded once for all of them. */
export class Frontends {
  readonly #engine: Engine;
  readonly #load: (name: FrontendName) => Promise<Frontend>;
  readonly #open = new Map<FrontendName, Promise<OpenFrontend>>();

  constructor(engine: Engine, settings: FrontendSettings = {}, load = loadWith(settings)) {
    this.#engine = engine;
    this.#load = load;
  }

  /** Loads a front end; later calls give the same one. One that could not be loaded is tried again by the next call. */
  open(name: FrontendName): Promise<OpenFrontend> {
    return this.#open.get(name) ?? this.adopt(name, this.#load(name));
  }

  /** Takes over a front end that has clients already. */
  adopt(name: FrontendName, frontend: Frontend | Promise<Frontend>): Promise<OpenFrontend> {
    const opening = this.#connectable(frontend);
    this.#open.set(name, opening);
    // Callers that await it learn the reason.
    opening.catch(() => {
      if (this.#open.get(name) === opening) this.#open.delete(name);
    });
    return opening;
  }

  async #connectable(loading: Frontend | Promise<Frontend>): Promise<OpenFrontend> {
    const [{ ClientConnection }, frontend] = await Promise.all([import("@flint/frontends"), loading]);
    return {
      frontend,
      connect: (transport, client) => new ClientConnection(frontend, this.#engine, transport, client),
    };
  }
}

function loadWith(settings: FrontendSettings): (name: FrontendName) => Promise<Frontend> {
  return (name) => FRONTENDS[name](settings);
}
