// Writes what is generated: the schemas, the pages about the protocol, and the page of requirements.
// With --check it writes nothing, names what differs, and fails.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { collectEvidence } from "../test/requirements/collect.ts";
import { renderRequirements } from "../test/requirements/render.ts";
import { ROOT } from "../test/source/files.ts";
import { protocolFiles } from "./generate/files.ts";
import { readMaterial } from "./generate/material.ts";

function allFiles(): Map<string, string> {
  const files = protocolFiles(readMaterial(ROOT));
  return files.set("docs/contributing/requirements.md", renderRequirements(collectEvidence(ROOT).citations));
}

function current(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), "utf8");
  } catch {
    // A file that cannot be read is one that has to be written.
    return undefined;
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), text);
  console.log(`wrote ${path}`);
}

const unknown = process.argv.slice(2).filter((argument) => argument !== "--check");
const stale = [...allFiles()].filter(([path, text]) => current(path) !== text);
if (unknown.length > 0) {
  console.error(`generate takes --check and nothing else; not ${unknown.join(" ")}.`);
  process.exitCode = 2;
} else if (!process.argv.includes("--check")) {
  for (const [path, text] of stale) write(path, text);
} else if (stale.length > 0) {
  for (const [path] of stale) console.error(`out of date: ${path}`);
  console.error("Run `npm run generate` and commit what it writes.");
  process.exitCode = 1;
}
