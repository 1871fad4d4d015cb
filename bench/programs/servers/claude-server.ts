// A server of Flint over stdio with the driver for Claude Code and a program that plays Claude.
// Arguments: the folder for its threads, the program that plays Claude, and after how many milliseconds without work
// an agent is stopped. On SIGUSR2 it writes how many bytes it uses after garbage collection to its folder.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { flintFrontend } from "@flint/frontends/flint";
import { composeEngine, serveStdio } from "@flint/server";
import { ClaudeDriver } from "../../../packages/drivers/src/claude/driver.ts";
import { HELD_FILE } from "./memory-file.ts";

const [root = "", enginePath = "", idleMs] = process.argv.slice(2);
const program = { command: [process.execPath, enginePath], environment: { CLAUDE_CONFIG_DIR: root } };
const driver = new ClaudeDriver({ program: async () => program, version: "0.0.0" });
const sandboxPolicy = { type: "dangerFullAccess" } as const;
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(join(root, HELD_FILE), String(heapUsed + external));
});
const rest = idleMs === undefined ? {} : { idleMs: Number(idleMs) };
await serveStdio(composeEngine({ root, drivers: [driver], sandboxPolicy, ...rest }), flintFrontend());
process.exit();
