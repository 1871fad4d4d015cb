// Nothing runs without a yes: the first command is declined, the second one is allowed.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ApprovalChoice, type ApprovalRequest, connect } from "@flint/sdk";

const flint = fileURLToPath(new URL("../packages/cli/bin/flint.cjs", import.meta.url));
const home = await mkdtemp(join(tmpdir(), "flint-home-"));
const folder = await mkdtemp(join(tmpdir(), "flint-folder-"));

const asked: string[] = [];
function decide({ action }: ApprovalRequest): ApprovalChoice {
  assert.ok(action.kind === "command");
  asked.push(action.command);
  const decision = asked.length === 1 ? "decline" : "accept";
  console.log(`may I run "${action.command}"? ${decision}`);
  return decision;
}

const client = await connect({
  spawn: {
    command: process.execPath,
    args: [flint, "serve", "--stdio"],
    env: { ...process.env, FLINT_HOME: home, FLINT_MODEL: "flint/offline" },
  },
  onApproval: decide,
});
try {
  const thread = await client.startThread({ cwd: folder, approvalPolicy: "always" });
  const statuses: unknown[] = [];
  for (const command of ["echo one", "echo two"]) {
    const { status, text, items } = await thread.run(`run \`${command}\``);
    console.log(`${status}: ${text}`);
    for (const item of items)
      if (item.type === "commandExecution" && "status" in item) statuses.push(item.status);
  }
  assert.deepEqual(asked, ["echo one", "echo two"]);
  assert.deepEqual(statuses, ["declined", "completed"]);
} finally {
  await client.close();
  await rm(home, { recursive: true });
  await rm(folder, { recursive: true });
}
