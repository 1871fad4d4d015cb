import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isGroup } from "../../packages/cli/src/command-line/command.ts";
import { EXIT_CODES } from "../../packages/cli/src/command-line/exit-codes.ts";
import { commandHelp } from "../../packages/cli/src/command-line/help.ts";
import { COMMANDS } from "../../packages/cli/src/command-line/table.ts";
import { ACP } from "../../packages/frontends/src/acp/vocabulary.ts";
import { ENVIRONMENT } from "../../packages/server/src/config/environment.ts";
import { CONFIG_KEYS } from "../../packages/server/src/config/keys/table.ts";
import { readSources } from "../../test/source/files.ts";
import type { Material } from "./files.ts";

/** Reads what the generated files are made of. */
export function readMaterial(root: string): Material {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  return {
    protocolSources: [...readSources(root, "packages/protocol/src").values()],
    limitsSource: read("packages/protocol/src/wire/limits.ts"),
    flintProse: read("scripts/generate/prose/flint.md"),
    harnessProse: read("scripts/generate/prose/harness.md"),
    codexProse: read("scripts/generate/prose/codex.md"),
    acpProse: read("scripts/generate/prose/acp.md"),
    acp: ACP,
    environment: ENVIRONMENT,
    help: harnessHelp(),
    configurationProse: read("scripts/generate/prose/configuration.md"),
    configuration: CONFIG_KEYS,
    cli: { commands: COMMANDS, exitCodes: EXIT_CODES },
  };
}

/** Returns the help text of the commands of the harness protocol. */
function harnessHelp(): string {
  const own = Object.entries(COMMANDS).filter(([name]) => name.startsWith("harness"));
  return own.flatMap(([name, row]) => (isGroup(row) ? [] : [commandHelp(name, row)])).join("\n");
}
