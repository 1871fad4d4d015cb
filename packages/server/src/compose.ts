import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { Engine, mcpServerSecrets, secretsIn } from "@flint/core";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { folderIdentity } from "@flint/host/folder-identity";
import { isFullAccess } from "@flint/protocol";
import { composeAgents } from "./agents.ts";
import {
  homeFolder,
  inheritedEnvironment,
  runFolder,
  setting,
  stateFolder,
  userConfigPath,
  usersUmask,
} from "./config/environment.ts";
import { DEFAULT_POLICIES } from "./config/policies.ts";
import { findProgram } from "./config/programs.ts";
import type { FixedSettings } from "./config/workspace-files.ts";
import { LazyCheckpoints, LazySandbox, LazyStore, LazyWorkspaces } from "./lazy-ports.ts";
import type { Durability, ServerOptions } from "./server-options.ts";
import { RulesFile } from "./state/rules-file.ts";
import { UsageLimitsFile } from "./state/usage-limits-file.ts";
import { composeTasks } from "./tasks.ts";
import { VERSION } from "./version.ts";

const DURABILITY_TEXTS: Record<Durability, string> = {
  full: "full: a completed turn and an answered approval survive a power cut",
  relaxed: "relaxed: everything survives the end of Flint; a power cut may lose the last seconds",
};

const TEN_MINUTES = 600_000;
const FIVE_MINUTES = 300_000;
const FIFTEEN_MINUTES = 900_000;
const ONE_DAY = 86_400_000;

/** Composes an engine. Starts no agent and accesses no disk before a request needs it. */
export function composeEngine(options: ServerOptions = {}): Engine {
  const root = options.root ?? stateFolder();
  const userRoot = options.userRoot ?? root;
  const durability = options.durability ?? "full";
  const trace = options.trace?.of("network");
  const sandbox = new LazySandbox(async () => {
    const { CommandSandbox } = await import("@flint/host/sandbox");
    const guarded = await guardedPaths([root, userRoot], options.ownSockets ?? [], options.policyRules);
    const { rendezvousFolder } = await import("./single-instance/rendezvous.ts");
    const [brokerFolder] = rendezvousFolder(root);
    return new CommandSandbox({
      ...{ environment: inheritedEnvironment(), umask: usersUmask(), guarded, scopeFolder: root },
      ...(trace === undefined
        ? {}
        : { onConnection: (...said) => trace("in", "decoded", JSON.stringify(said)) }),
      ...(brokerFolder === undefined ? {} : { brokerFolder }),
    });
  });
  const agents = composeAgents(options, sandbox, userRoot);
  const workspaces = new LazyWorkspaces(async () => {
    const { TrustFile, WorkspaceFiles } = await import("./config/workspace-files.ts");
    const { INCLUDE_FILE } = await import("@flint/host/steering");
    const steered = [...agents.steered, { name: "tasks", files: [INCLUDE_FILE] }];
    return new WorkspaceFiles(new TrustFile(join(userRoot, "trust.json")), {
      ...{ fixed: startChoices(options), agents: steered, mcpServers: options.mcpServers ?? [] },
      ...{ home: homeFolder(), findProgram },
    });
  });
  const limitStore = new UsageLimitsFile(join(userRoot, "usage-limits.json"));
  const tasks = composeTasks(options, {
    limitStore,
    ...{ root, sandbox, environment: inheritedEnvironment() },
    trust: {
      isTrusted: async (folder, path) => {
        const { trusted } = await workspaces.steering(folder, [path]);
        return trusted.some((file) => file.folder === realPath(folder));
      },
      gitVariables: (folder) => workspaces.gitVariables(folder),
    },
    ...{ durable: durability === "full", clock: options.clock ?? SYSTEM_CLOCK, engine: () => engine },
  });
  const engine = new Engine({
    tasks,
    version: VERSION,
    store: new LazyStore(async () => {
      const { JsonlStore } = await import("@flint/host/store");
      return new JsonlStore({ root, durability });
    }),
    ephemeralStore: new LazyStore(async () => {
      const { MemoryStore } = await import("@flint/host/store");
      return new MemoryStore();
    }),
    drivers: options.drivers ?? agents.drivers,
    sandbox,
    onClose: () => agents.close(),
    onThreadDeleted: (threadId) => agents.removeSessions(threadId),
    checkpoints: new LazyCheckpoints(async () => {
      const { FileCheckpoints } = await import("@flint/host/checkpoints");
      return new FileCheckpoints({ root: userRoot });
    }),
    policyRules: options.policyRules,
    rules: new RulesFile(join(userRoot, "rules.jsonl")),
    limitStore,
    mcpServers: options.mcpServers ?? [],
    workspaces,
    secrets: [
      ...(options.secrets ?? []),
      ...secretsIn(inheritedEnvironment()),
      ...(options.mcpServers ?? []).flatMap(mcpServerSecrets),
    ],
    clock: options.clock ?? SYSTEM_CLOCK,
    cwd: options.cwd ?? process.cwd(),
    model: options.model ?? setting("FLINT_MODEL"),
    approvalPolicy: options.approvalPolicy ?? DEFAULT_POLICIES.approvalPolicy,
    sandboxPolicy: options.sandboxPolicy ?? DEFAULT_POLICIES.sandboxPolicy,
    network: options.network,
    git: options.git,
    acceptEdits: options.acceptEdits,
    agentPermissions: agentPermissions(options),
    budget: options.budget,
    // A server that starts without approvals and sandbox allows clients to do the same.
    allowUnconfined: options.allowUnconfined ?? isFullAccess(options.approvalPolicy, options.sandboxPolicy),
    locks: options.locks,
    home: homeFolder(),
    approvalTimeoutMs: options.approvalTimeoutMs ?? TEN_MINUTES,
    silenceTimeoutMs: options.silenceMs ?? FIFTEEN_MINUTES,
    idleTimeoutMs: options.idleMs ?? FIVE_MINUTES,
    backgroundTimeoutMs: options.backgroundMs ?? ONE_DAY,
    notice: options.notice,
    durability: DURABILITY_TEXTS[durability],
    isFolder,
    realPath,
    folderIdentity,
  });
  tasks?.resume();
  return engine;
}

/**
 * Returns the paths that sandboxed commands cannot write or reach: Flint's own files and sockets, and the
 * policy file of this run.
 */
async function guardedPaths(
  folders: readonly string[],
  sockets: readonly string[],
  policy: ServerOptions["policyRules"],
) {
  const { rendezvousFolder } = await import("./single-instance/rendezvous.ts");
  const hidden = [...[...folders, stateFolder()].map(runFolder), ...rendezvousFolder(stateFolder())];
  // The next run would obey what a command of this one has written there.
  const lockedFiles = policy !== undefined && isAbsolute(policy.source) ? [policy.source] : [];
  return { folders, files: [userConfigPath()], lockedFiles, hidden: [...new Set(hidden)], sockets };
}

/** The settings that the user chose when starting the server. */
function startChoices(options: ServerOptions): FixedSettings {
  const { chosen = POLICY_OPTIONS.filter((name) => options[name] !== undefined) } = options;
  const environment = setting("FLINT_MODEL") === undefined ? [] : ["model"];
  return new Set([...chosen, ...environment]);
}

/** The permissions of agents, without what the user chose for all of them when starting the server. */
function agentPermissions(options: ServerOptions): ServerOptions["agentPermissions"] {
  const chosen = startChoices(options);
  const { agentPermissions: configured = new Map() } = options;
  const kept = [...configured].map(([id, permissions]) => {
    const entries = Object.entries(permissions).filter(([name]) => !chosen.has(name));
    return [id, Object.fromEntries(entries)] as const;
  });
  return new Map(kept);
}

const POLICY_OPTIONS = ["model", "approvalPolicy", "sandboxPolicy", "budget"] as const;

function realPath(path: string): string {
  // Expected: a missing or inaccessible path.
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // An agent cannot work in a folder that cannot be read.
    return false;
  }
}
