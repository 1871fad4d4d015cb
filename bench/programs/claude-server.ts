// A server of Flint over stdio with the driver for Claude Code and a program that plays Claude.
// Arguments: the folder for its threads, and the program that plays Claude.
import { flintDialect } from "@flint/dialects/flint";
import { composeEngine, serveStdio } from "@flint/server";
import { ClaudeDriver } from "../../packages/drivers/src/claude/driver.ts";

const [root = "", enginePath = ""] = process.argv.slice(2);
const program = { command: [process.execPath, enginePath], environment: { CLAUDE_CONFIG_DIR: root } };
const driver = new ClaudeDriver({ program: async () => program, version: "0.0.0" });
const sandboxPolicy = { type: "dangerFullAccess" } as const;
await serveStdio(composeEngine({ root, drivers: [driver], sandboxPolicy }), flintDialect);
process.exit();
