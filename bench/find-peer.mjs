// Finds claude-agent-acp, or fetches it into the folder for such programs, and writes as JSON where it is, or why there
// is none. It always has the same version, because figures are compared with those of other days.
import { join } from "node:path";
import { CACHE, isExecutable, must } from "../scripts/test-setup/machine.mjs";
import { provide } from "../scripts/test-setup/parts.mjs";

const NAME = "claude-agent-acp";
const PACKAGE = "@agentclientprotocol/claude-agent-acp@0.99.1";
const FOLDER = join(CACHE, "agents", NAME);
const COPY = join(FOLDER, "node_modules/.bin", NAME);
// What is optional is Claude itself, some hundred megabytes of it; the measurement brings a program in its place.
const FLAGS = [
  "--no-save",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--omit=optional",
];

const peer = {
  name: NAME,
  large: true,
  find: () => (isExecutable(COPY) ? { path: COPY } : undefined),
  fetch: () =>
    must(
      `npm install ${PACKAGE}`,
      "npm",
      ["install", "--prefix", FOLDER, ...FLAGS, "--loglevel=error", PACKAGE],
      {
        seconds: 300,
      },
    ),
};

const say = (line) => process.stderr.write(`${line}\n`);
process.stdout.write(JSON.stringify(provide(peer, { large: [NAME], say })));
