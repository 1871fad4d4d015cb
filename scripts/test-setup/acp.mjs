import { join } from "node:path";
import { CACHE, isExecutable, mustFetch, onPath } from "./machine.mjs";

const QUIET = [
  "--no-save",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--loglevel=error",
  // It says that it needs a newer Node, and runs on this one; the strictness is meant for our own packages.
  "--engine-strict=false",
];

/**
 * A real program of the Agent Client Protocol. An agent drives the Codex or the Claude of another part, so it comes
 * without one. Nothing of it is shipped: it is fetched for tests only.
 */
function acpProgram(name, specifier) {
  const folder = join(CACHE, "agents", name);
  const copy = join(folder, "node_modules/.bin", name);
  return {
    name,
    large: true,
    hint: `put ${name} on PATH, or set FLINT_TEST_AGENTS=1`,
    find() {
      const path = onPath(name);
      if (path !== undefined) return { path, how: "on PATH" };
      return isExecutable(copy) ? { path: copy, how: "private copy" } : undefined;
    },
    fetch() {
      const install = ["install", "--prefix", folder, ...QUIET, "--omit=optional", specifier];
      mustFetch(`npm install ${specifier}`, "npm", install, { seconds: 300 });
    },
  };
}

/** Codex over ACP. */
export const codexAcp = acpProgram("codex-acp", "@agentclientprotocol/codex-acp@2.6.0");

/** Claude over ACP. */
export const claudeAgentAcp = acpProgram("claude-agent-acp", "@agentclientprotocol/claude-agent-acp@0.99.1");

/** A client of the Agent Client Protocol for the terminal. It wants a newer Node than ours: tests run it on node24. */
export const acpx = acpProgram("acpx", "acpx@0.19.1");
