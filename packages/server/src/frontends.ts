import type { Engine } from "@flint/core";
import type { ClientConnection, ConnectionOptions, Frontend } from "@flint/frontends";
import type { Transport } from "@flint/rpc";
import { agentLogins } from "./config/agents.ts";
import { lastSessionsFile, stateFolder } from "./config/environment.ts";
import type { ServerOptions } from "./server-options.ts";

/** The settings of front ends. */
export type FrontendSettings = Pick<ServerOptions, "autoResume" | "clientTerminal" | "clientFs">;

/** Every front end, by its name in flags, URL paths and rendezvous requests; each is loaded with its first client. */
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
  acp: async (settings: FrontendSettings = {}): Promise<Frontend> => {
    const [{ acpFrontend }, { LastSessionsFile }] = await Promise.all([
      import("@flint/frontends/acp"),
      import("./state/last-sessions.ts"),
    ]);
    const lastSessions = new LastSessionsFile(lastSessionsFile(stateFolder()));
    return acpFrontend({ ...settings, lastSessions, logins: agentLogins() });
  },
} as const satisfies Readonly<Record<string, LoadFrontend>>;

/** Loads a front end. */
type LoadFrontend = (settings?: FrontendSettings) => Promise<Frontend>;

/** The name of a front end. */
export type FrontendName = keyof typeof FRONTENDS;

/** The names of all front ends. */
export const FRONTEND_NAMES = Object.keys(FRONTENDS).filter(isFrontendName);

/** The front end of clients on stdio and unix sockets that name none. */
export const DEFAULT_FRONTEND: FrontendName = "flint";

/** The front end at the root of a WebSocket listener. */
export const ROOT_FRONTEND: FrontendName = "codex";

/** Reports whether a front end has this name. */
export function isFrontendName(name: string): name is FrontendName {
  return Object.hasOwn(FRONTENDS, name);
}

/** A loaded front end, for the clients of one engine. */
export interface OpenFrontend {
  readonly frontend: Frontend;
  /** Serves one client until it disconnects. */
  connect(transport: Transport, options?: ConnectionOptions): ClientConnection;
}

/** The front ends of one engine. Its clients share each of them, so that an event is encoded once for all. */
export class Frontends {
  readonly #engine: Engine;
  readonly #load: (name: FrontendName) => Promise<Frontend>;
  readonly #open = new Map<FrontendName, Promise<OpenFrontend>>();

  constructor(engine: Engine, settings: FrontendSettings = {}, load = loadWith(settings)) {
    this.#engine = engine;
    this.#load = load;
  }

  /** Loads a front end once. If that fails, the next call tries again. */
  open(name: FrontendName): Promise<OpenFrontend> {
    return this.#open.get(name) ?? this.adopt(name, this.#load(name));
  }

  /** Adds a front end that was loaded elsewhere. */
  adopt(name: FrontendName, frontend: Frontend | Promise<Frontend>): Promise<OpenFrontend> {
    const opening = this.#connectable(frontend);
    this.#open.set(name, opening);
    // Callers that await it get the error.
    opening.catch(() => {
      if (this.#open.get(name) === opening) this.#open.delete(name);
    });
    return opening;
  }

  async #connectable(loading: Frontend | Promise<Frontend>): Promise<OpenFrontend> {
    const [{ ClientConnection }, frontend] = await Promise.all([import("@flint/frontends"), loading]);
    return {
      frontend,
      connect: (transport, options) => new ClientConnection(frontend, this.#engine, transport, options),
    };
  }
}

function loadWith(settings: FrontendSettings): (name: FrontendName) => Promise<Frontend> {
  return (name) => FRONTENDS[name](settings);
}
