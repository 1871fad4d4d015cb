// Shows every selector of the agent by one rule, without knowing what any of them means, and sets one.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@flint/sdk";

const flint = fileURLToPath(new URL("../packages/cli/bin/flint.cjs", import.meta.url));
const home = await mkdtemp(join(tmpdir(), "flint-home-"));

const client = await connect({
  spawn: {
    command: process.execPath,
    args: [flint, "serve", "--stdio"],
    env: { ...process.env, FLINT_HOME: home, FLINT_MODEL: "flint/offline" },
  },
});
try {
  const thread = await client.startThread({ cwd: home });
  const options = await client.configList(thread.id);
  for (const { name, options: choices, value } of options) {
    console.log(`${name}: ${choices.map(({ id }) => (id === value ? `[${id}]` : id)).join("  ")}`);
  }
  const selector = options.find((option) => option.options.length > 1);
  assert.ok(selector, "the agent offers something to choose");
  const choice = selector.options.find(({ id }) => id !== selector.value);
  assert.ok(choice);

  const valueIn = (all: typeof options) => all.find(({ id }) => id === selector.id)?.value;
  assert.equal(valueIn(await client.configSet(selector.id, choice.id, thread.id)), choice.id);
  assert.equal(valueIn((await client.configRead(thread.id)).options), choice.id);
  assert.equal(valueIn(await client.configList(thread.id)), choice.id);
  console.log(`${selector.name} is now ${choice.name}`);
} finally {
  await client.close();
  await rm(home, { recursive: true });
}
