import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Engine } from "@flint/core";
import { type Clock, type Driver, SYSTEM_CLOCK } from "@flint/core/ports";
import { builtInDrivers } from "@flint/drivers";
import type { ApprovalPolicy, SandboxPolicy } from "@flint/protocol";
import { inheritedEnvironment, setting, stateFolder } from "./config.ts";
import { SandboxOnDemand, StoreOnDemand } from "./on-demand.ts";
import { RulesFile } from "./rules-file.ts";
import { VERSION } from "./version.ts";

/** What `turn/completed` promises: that it survives a power cut, or only the end of the process. */
export type Durability = "full" | "relaxed";

/** What can be chosen about a server; the rest is as the documentation says. */
export interface ServerOptions {
  /** Where threads are kept. */
  readonly root?: string | undefined;
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandboxPolicy?: SandboxPolicy | undefined;
  readonly durability?: Durability | undefined;
  /** Lets clients choose to be asked nothing and to confine nothing. Starting a server like that is such a choice too. */
  readonly allowUnconfined?: boolean | undefined;
  readonly approvalTimeoutMs?: number | undefined;
  readonly idleMs?: number | undefined;
  /** Other agents than the built-in ones. */
  readonly drivers?: readonly Driver[] | undefined;
  readonly clock?: Clock | undefined;
}

const DURABILITY_WORDS: Record<Durability, string> = {
  full: "full: a completed turn and an answered approval survive a power cut",
  relaxed: "relaxed: everything survives the end of Flint; a power cut may lose the last seconds",
};

const TEN_MINUTES = 600_000;
const FIVE_MINUTES = 300_000;

/** Puts an engine together. Touches neither the disk nor any agent before something is asked of it. */
export function composeEngine(options: ServerOptions = {}): Engine {
  const root = options.root ?? stateFolder();
  const durability = options.durability ?? "full";
  return new Engine({
    version: VERSION,
    store: new StoreOnDemand(async () => {
      const { JsonlStore } = await import("@flint/core/store");
      return new JsonlStore({ root, durability });
    }),
    ephemeralStore: new StoreOnDemand(async () => {
      const { MemoryStore } = await import("@flint/core/store");
      return new MemoryStore();
    }),
    drivers: options.drivers ?? builtInDrivers(),
    sandbox: new SandboxOnDemand(async () => {
      const { CommandSandbox } = await import("@flint/core/sandbox");
      return new CommandSandbox({ environment: inheritedEnvironment() });
    }),
    rules: new RulesFile(join(root, "rules.jsonl")),
    clock: options.clock ?? SYSTEM_CLOCK,
    cwd: options.cwd ?? process.cwd(),
    model: options.model ?? setting("FLINT_MODEL"),
    approvalPolicy: options.approvalPolicy ?? "unlessTrusted",
    sandboxPolicy: options.sandboxPolicy ?? { type: "workspaceWrite" },
    allowUnconfined: options.allowUnconfined ?? isUnconfined(options),
    approvalTimeoutMs: options.approvalTimeoutMs ?? TEN_MINUTES,
    idleMs: options.idleMs ?? FIVE_MINUTES,
    durability: DURABILITY_WORDS[durability],
    isFolder,
  });
}

function isUnconfined({ approvalPolicy, sandboxPolicy }: ServerOptions): boolean {
  return approvalPolicy === "never" && sandboxPolicy?.type === "dangerFullAccess";
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Whatever keeps us from looking at it also keeps an agent from working in it.
    return false;
  }
}
