// Runs before the tests: looks for the programs that some of them need, fetches what is missing into a cache without
// touching the system, and says loudly what could not be had. CONTRIBUTING.md has the variables that steer it.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { FOUND } from "./test-setup/cache.mjs";
import { forgetLists } from "./test-setup/debian.mjs";
import { plan, provide, seconds, tryAgain } from "./test-setup/parts.mjs";

const say = (line) => console.log(line);

async function main() {
  const started = performance.now();
  const { requested, required } = plan();
  // Fetched in parallel, reported in order.
  const results = await Promise.all(requested.map((part) => provide(part, say)));
  for (const [at, part] of requested.entries()) results[at] = await tryAgain(part, results[at]);
  await forgetLists();
  const found = {};
  const missing = [];
  for (const [at, part] of requested.entries()) {
    const { path, how, reason } = results[at];
    if (path !== undefined) {
      found[part.name] = { path, how, ...(part.onPath && { onPath: true }) };
      say(`ok ${part.name} ${path} (${how})`);
    } else {
      if (required.includes(part.name)) missing.push(part.name);
      say(`SKIP ${part.name} its tests will be skipped (${reason}): ${part.hint}`);
    }
  }
  mkdirSync(dirname(FOUND), { recursive: true });
  writeFileSync(FOUND, `${JSON.stringify(found, null, 2)}\n`);
  say(`set up in ${seconds(performance.now() - started)} (not part of the test time)`);
  if (missing.length > 0)
    throw new Error(`FLINT_TEST_REQUIRE names ${missing.join(", ")}, which could not be provided`);
}

try {
  await main();
} catch (error) {
  console.error(`test setup: ${error.message}`);
  process.exitCode = 1;
}
