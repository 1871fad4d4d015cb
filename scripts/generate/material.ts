import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HELP } from "../../packages/server/src/commands/help.ts";
import { ENVIRONMENT } from "../../packages/server/src/config.ts";
import { readSources } from "../../test/source/files.ts";
import type { Material } from "./files.ts";

/** Reads what the generated files are made of. */
export function readMaterial(root: string): Material {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  return {
    protocolSources: [...readSources(root, "packages/protocol/src").values()],
    limitsSource: read("packages/protocol/src/limits.ts"),
    flintProse: read("scripts/generate/prose/flint.md"),
    harnessProse: read("scripts/generate/prose/harness.md"),
    environment: ENVIRONMENT,
    help: HELP,
  };
}
