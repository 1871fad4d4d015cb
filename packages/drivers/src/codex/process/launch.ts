import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { PrivateFolder } from "@flint/core/ports";
import { isUnconfined } from "@flint/protocol";
import { agentPaths, CODEX_FOLDER } from "../../shared/agent-folders.ts";
import type { AgentOptions, AgentProgram } from "../../shared/agent-options.ts";
import { notInstalled } from "../../shared/descriptor.ts";
import { CODEX } from "../descriptor.ts";
import type { Wall } from "./sandbox.ts";

/** What is started, and what it may write beside what its wall lets through. */
export interface CodexLaunch extends AgentProgram {
  readonly wall: Wall;
  readonly ownPaths: readonly string[];
  readonly privateFolders: readonly PrivateFolder[];
  readonly readOnlyPaths: readonly string[];
}

/** A thread that nobody listens to any more is let go of at once, so that another process can take it up. */
const FLAGS = ["-c", "thread_unload_delay_secs=0"];

/**
 * Codex makes a sandbox for each command; inside of Flint's only the way without namespaces works (0.166.0). Snapshots
 * of shells and plugins are kept in places that a command could write, and run later where nothing confines them.
 */
const CONFINED_FLAGS = ["use_legacy_landlock=true", "shell_snapshot=false", "plugins=false"].flatMap(
  (feature) => ["-c", `features.${feature}`],
);

/** The program; rejects with a FlintError that says how to get it. */
export async function codexProgram({ program }: Pick<AgentOptions, "program">): Promise<AgentProgram> {
  const found = await program();
  if (found === undefined) throw notInstalled(CODEX);
  return found;
}

/** What is started when Codex is needed: its app server, in the form that talks by lines. */
export async function codexLaunch(options: AgentOptions, wall: Wall): Promise<CodexLaunch> {
  const program = await codexProgram(options);
  const { flags, environment: moved } = await offline(options);
  const environment: AgentProgram["environment"] = { NO_COLOR: "1", ...program.environment, ...moved };
  const command = [...program.command, "app-server", ...FLAGS, ...flags];
  if (isUnconfined(wall.policy))
    return { command, environment, wall, ownPaths: [], privateFolders: [], readOnlyPaths: [] };
  const { environment: places, ...paths } = await agentPaths(
    [CODEX_FOLDER],
    environment,
    environment.HOME ?? homedir(),
  );
  return {
    command: [...command, ...CONFINED_FLAGS],
    environment: { ...environment, ...places },
    wall,
    ...paths,
  };
}

/** Points Codex to the offline model, away from the user's account and settings. */
async function offline({ offlineModel, stateFolder }: AgentOptions) {
  if (offlineModel === undefined) return { flags: [], environment: {} };
  // Without retries of single requests every second try is one that Codex tells of.
  const provider = `{name="flint",base_url=${JSON.stringify(`${await offlineModel()}/v1`)},wire_api="responses",request_max_retries=0}`;
  const flags = ["-c", "model_provider=flint", "-c", `model_providers.flint=${provider}`];
  if (stateFolder === undefined) return { flags, environment: {} };
  const home = join(stateFolder, "codex");
  await mkdir(home, { recursive: true, mode: 0o700 });
  return { flags, environment: { CODEX_HOME: home } };
}
