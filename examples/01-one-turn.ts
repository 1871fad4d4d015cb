// Starts a server, asks what is in a folder, and shows the work while it happens.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect, describeEvent } from "@flint/sdk";

const flint = fileURLToPath(new URL("../packages/cli/bin/flint.cjs", import.meta.url));
const home = await mkdtemp(join(tmpdir(), "flint-home-"));
const folder = await mkdtemp(join(tmpdir(), "flint-folder-"));
await writeFile(join(folder, "README.md"), "# A project\n");

const client = await connect({
  spawn: {
    command: process.execPath,
    args: [flint, "serve", "--stdio"],
    env: { ...process.env, FLINT_HOME: home, FLINT_MODEL: "flint/offline" },
  },
});
try {
  const thread = await client.startThread({ cwd: folder, approvalPolicy: "never" });
  const turn = thread.stream("what is in this folder?");
  for await (const event of turn) {
    if (event.type === "item/agentMessage/delta") process.stdout.write(event.data.delta);
    const line = describeEvent(event);
    if (line !== undefined) console.log(line);
  }
  const { status, text, items, usage } = await turn.result;
  console.log(`\n${status}, ${usage.outputTokens} tokens`);

  const commands = items.filter((item) => item.type === "commandExecution");
  assert.equal(status, "completed");
  assert.ok(
    commands.some((item) => "exitCode" in item && item.exitCode === 0 && item.status === "completed"),
  );
  assert.match(text, /README\.md/);
  assert.equal(thread.state.turns.at(-1)?.status, "completed");
} finally {
  await client.close();
  await rm(home, { recursive: true });
  await rm(folder, { recursive: true });
}
