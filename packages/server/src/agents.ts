import { join } from "node:path";
import type { Driver, Sandbox } from "@flint/core/ports";
import { type AgentOptions, builtInDrivers, PriceList, removeThreadSessions } from "@flint/drivers";
import type { Trace } from "@flint/rpc";
import { type ConfiguredAgent, configuredAgents } from "./config/agents.ts";
import { setting } from "./config/environment.ts";
import { nativeOptions } from "./config/server-config.ts";
import type { ServerOptions } from "./server-options.ts";
import type { SteeredAgent } from "./trust/project-files.ts";
import { VERSION } from "./version.ts";

/** The agents of a server. */
export interface Agents {
  readonly drivers: readonly Driver[];
  /** The agents that files of projects steer, with those files. */
  readonly steered: readonly SteeredAgent[];
  /** Deletes what is kept of the sessions that the agents have for a thread. */
  removeSessions(threadId: string): Promise<void>;
  close(): Promise<void>;
}

/** Composes the drivers of Flint's own agent and of the configured ones. Starts no process and looks for no program. */
export function composeAgents(options: ServerOptions, sandbox: Sandbox, stateFolder: string): Agents {
  const offline = options.offlineAgents === true ? new OfflineModel() : undefined;
  const agents = options.agents ?? configuredAgents(undefined);
  const native = options.native ?? nativeOptions();
  const prices = new PriceList(native.models);
  const named = agents.map((agent) => ({
    id: agent.id,
    driver: agent.driver,
    model: agent.model,
    command: agent.command,
    options: agentOptions(agent, {
      offline,
      trace: options.trace?.of(agent.id),
      sandbox,
      stateFolder,
      prices,
      stepLimit: native.stepLimit,
    }),
  }));
  const drivers = builtInDrivers(native, named);
  const steered = drivers.flatMap(({ displayName, projectFiles }) =>
    displayName === undefined || projectFiles === undefined
      ? []
      : [{ name: displayName, files: projectFiles }],
  );
  return {
    drivers,
    steered,
    async removeSessions(threadId) {
      const folders = new Set(agents.map((agent) => stateFolderOf(agent, stateFolder)));
      await Promise.all([...folders].map((folder) => removeThreadSessions(folder, threadId)));
    },
    async close() {
      await Promise.allSettled(drivers.map((driver) => driver.close?.()));
      await offline?.close();
      options.trace?.close();
    },
  };
}

interface SharedOptions {
  readonly offline: OfflineModel | undefined;
  readonly trace: Trace | undefined;
  readonly sandbox: Sandbox;
  readonly stateFolder: string;
  readonly prices: PriceList;
  readonly stepLimit: number | undefined;
}

/** Agents of one kind share nothing, not even on the offline model. */
function stateFolderOf({ driver, id }: ConfiguredAgent, stateFolder: string): string {
  return driver === id ? stateFolder : join(stateFolder, `agent-${id}`);
}

function agentOptions(agent: ConfiguredAgent, shared: SharedOptions): AgentOptions {
  const { offline, trace, sandbox, stateFolder, prices, stepLimit } = shared;
  return {
    environment: () => agent.environment(),
    program: (workspace) => agent.program(workspace),
    leftOut: (workspace) => agent.leftOut(workspace),
    hasAccess: () => agent.hasAccess(),
    processSpan: agent.processSpan,
    ...(offline === undefined ? {} : { offlineModel: () => offline.address() }),
    trace,
    sandbox,
    stateFolder: stateFolderOf(agent, stateFolder),
    prices,
    stepLimit,
    version: VERSION,
  };
}

/** The offline model over HTTP, started when an agent needs it. It plays the same script as that of Flint's own agent. */
class OfflineModel {
  #server: Promise<{ readonly url: string; close(): Promise<void> }> | undefined;

  async address(): Promise<string> {
    const script = setting("FLINT_OFFLINE_SCRIPT");
    this.#server ??= import("@flint/offline-model/http").then(({ ModelServer }) =>
      ModelServer.start(script === undefined ? {} : { script }),
    );
    return (await this.#server).url;
  }

  async close(): Promise<void> {
    if (this.#server !== undefined) await (await this.#server).close();
  }
}
