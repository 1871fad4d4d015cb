// Runs before the tests: looks for the programs that some of them need, gets what can be had without
// touching the system, and says loudly what is missing. FLINT_TEST_REQUIRE=a,b makes a gap an error.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CACHE } from "./test-setup/machine.mjs";
import { PARTS, plan, provide } from "./test-setup/parts.mjs";

const say = (line) => console.log(line);

function main() {
  const { wanted, required, large } = plan();
  const found = {};
  const missing = [];
  for (const part of PARTS.filter(({ name }) => wanted.includes(name))) {
    const result = provide(part, { large, say });
    if (result.path !== undefined) {
      found[part.name] = result;
      say(`ok ${part.name} ${result.path} (${result.how})`);
    } else {
      if (required.includes(part.name)) missing.push(part.name);
      say(`SKIP ${part.name} its tests will be skipped (${result.reason}): ${part.hint}`);
    }
  }
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, "found.json"), `${JSON.stringify(found, null, 2)}\n`);
  if (missing.length > 0)
    throw new Error(`FLINT_TEST_REQUIRE names ${missing.join(", ")}, which could not be provided`);
}

try {
  main();
} catch (error) {
  console.error(`test setup: ${error.message}`);
  process.exitCode = 1;
}
