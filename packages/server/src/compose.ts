import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Engine, mcpServerSecrets, secretsIn } from "@flint/core";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { isUnconfined } from "@flint/protocol";
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
import { LazyCheckpoints, LazySandbox, LazyStore, LazyWorkspaces, type StartChoices } from "./lazy-ports.ts";
import type { Durability, ServerOptions } from "./server-options.ts";
import { RulesFile } from "./state/rules-file.ts";
import { VERSION } from "./version.ts";

const DURABILITY_WORDS: Record<Durability, string> = {
  full: "full: a completed turn and an answered approval survive a power cut",
  relaxed: "relaxed: everything survives the end of Flint; a power cut may lose the last seconds",
};

const TEN_MINUTES = 600_000;
const FIVE_MINUTES = 300_000;
const ONE_DAY = 86_400_000;

/** Puts an engine together. Touches neither the disk nor any agent before something is asked of it. */
export function composeEngine(options: ServerOptions = {}): Engine {
  const root = options.root ?? stateFolder();
  const userRoot = options.userRoot ?? root;
  const durability = options.durability ?? "full";
  const sandbox = new LazySandbox(async () => {
    const { CommandSandbox } = await import("@flint/host/sandbox");
    const { rendezvousFolder } = await import("./single-instance/rendezvous.ts");
    const hidden = [...[root, userRoot, stateFolder()].map(runFolder), ...rendezvousFolder(stateFolder())];
    const guarded = {
      folders: [root, userRoot],
      files: [userConfigPath()],
      hidden: [...new Set(hidden)],
      sockets: options.ownSockets ?? [],
    };
    return new CommandSandbox({ environment: inheritedEnvironment(), umask: usersUmask(), guarded });
  });
  const agents = composeAgents(options, sandbox, userRoot);
  return new Engine({
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
    checkpoints: new LazyCheckpoints(async () => {
      const { FileCheckpoints } = await import("@flint/host/checkpoints");
      return new FileCheckpoints({ root: userRoot });
    }),
    policyRules: options.policyRules,
    rules: new RulesFile(join(userRoot, "rules.jsonl")),
    mcpServers: options.mcpServers ?? [],
    workspaces: new LazyWorkspaces(async () => {
      const { WorkspaceFiles } = await import("./config/workspace-files.ts");
      const { TrustFile } = await import("./config/workspace-files.ts");
      return new WorkspaceFiles(new TrustFile(join(userRoot, "trust.json")));
    }, startChoices(options)),
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
    budget: options.budget,
    allowUnconfined: options.allowUnconfined ?? startsUnconfined(options),
    home: homeFolder(),
    approvalTimeoutMs: options.approvalTimeoutMs ?? TEN_MINUTES,
    idleTimeoutMs: options.idleMs ?? FIVE_MINUTES,
    backgroundTimeoutMs: options.backgroundMs ?? ONE_DAY,
    durability: DURABILITY_WORDS[durability],
    isFolder,
    realPath,
  });
}

/** What no workspace may change. */
function startChoices(options: ServerOptions): StartChoices {
  const { chosen = CHOICES.filter((name) => options[name] !== undefined) } = options;
  const environment = setting("FLINT_MODEL") === undefined ? [] : ["model"];
  return new Set([...chosen, ...environment]);
}

const CHOICES = ["model", "approvalPolicy", "sandboxPolicy", "budget"] as const;

/** Who asks for both when the server starts has asked for it. */
function startsUnconfined({ approvalPolicy, sandboxPolicy }: ServerOptions): boolean {
  return approvalPolicy === "never" && sandboxPolicy !== undefined && isUnconfined(sandboxPolicy);
}

function realPath(path: string): string {
  // Expected: nothing is there, or nothing that may be looked at.
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
    // Whatever keeps us from looking at it also keeps an agent from working in it.
    return false;
  }
}
