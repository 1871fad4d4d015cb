import { existsSync } from "node:fs";
import { join } from "node:path";
import { CACHE, must } from "./machine.mjs";

const PACKAGE = "@openai/codex-sdk@0.163.0";
const FOLDER = join(CACHE, "agents/codex-sdk");
const MODULE = join(FOLDER, "node_modules/@openai/codex-sdk/dist/index.js");
const QUIET = [
  "--no-save",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--loglevel=error",
];

/** The library with which programs drive Codex. The tests give it another program, so it comes without its own. */
export const codexSdk = {
  name: "codex-sdk",
  large: true,
  hint: "set FLINT_TEST_AGENTS=1",
  find: () => (existsSync(MODULE) ? { path: MODULE, how: "private copy" } : undefined),
  fetch() {
    const install = ["install", "--prefix", FOLDER, ...QUIET, "--omit=optional", PACKAGE];
    must(`npm install ${PACKAGE}`, "npm", install, { seconds: 300 });
  },
};
