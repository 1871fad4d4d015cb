import { join } from "node:path";
import { CACHE, isExecutable, must, onPath } from "./machine.mjs";

const PACKAGE = "@agentclientprotocol/codex-acp@2.6.0";
const FOLDER = join(CACHE, "agents/codex-acp");
const COPY = join(FOLDER, "node_modules/.bin/codex-acp");
const QUIET = [
  "--no-save",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--loglevel=error",
];

/** A real agent of the Agent Client Protocol. It drives the Codex of another part, so it comes without one. */
export const codexAcp = {
  name: "codex-acp",
  large: true,
  hint: "put codex-acp on PATH, or set FLINT_TEST_AGENTS=1",
  find() {
    const path = onPath("codex-acp");
    if (path !== undefined) return { path, how: "on PATH" };
    return isExecutable(COPY) ? { path: COPY, how: "private copy" } : undefined;
  },
  fetch() {
    const install = ["install", "--prefix", FOLDER, ...QUIET, "--omit=optional", PACKAGE];
    must(`npm install ${PACKAGE}`, "npm", install, { seconds: 300 });
  },
};
