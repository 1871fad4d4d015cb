import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { RunningServer } from "@flint/protocol";
import { type EnvironmentName, setting, userConfigPath } from "../config/environment.ts";
import { VERSION } from "../version.ts";

/** The variables that change how a server works. */
const SERVER_VARIABLES: readonly EnvironmentName[] = [
  "FLINT_MODEL",
  "FLINT_MODEL_URL",
  "FLINT_OFFLINE_SCRIPT",
  "ANTHROPIC_BASE_URL",
  "OPENAI_BASE_URL",
  "OLLAMA_HOST",
  "CLAUDE_CODE_EXECUTABLE",
  "CODEX_EXECUTABLE",
];

/** A hash of the settings in the environment that change how a server works. */
export function settingsHash(): string {
  const values = SERVER_VARIABLES.map((name) => setting(name) ?? null);
  const text = JSON.stringify([resolve(userConfigPath()), ...values]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/**
 * Returns the difference between a running server and the one that this process would be; undefined if there
 * is none.
 */
export function differenceTo(running: RunningServer): string | undefined {
  const version = versionDifference(running);
  if (version !== undefined) return version;
  return running.settings === settingsHash()
    ? undefined
    : "it was started with different environment variables";
}

/** The version of a running server, if it is not that of this program. */
export function versionDifference({ version }: RunningServer): string | undefined {
  return version === VERSION ? undefined : `it is Flint ${version}`;
}
