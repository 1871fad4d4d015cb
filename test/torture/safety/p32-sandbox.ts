import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TortureCase } from "../case.ts";
import { SkippedCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count, none } from "../figures.ts";
import type { TortureServer } from "../server.ts";

/** Names of files that configure tools, which no command may create. */
const STEERING = [
  ".git",
  ".flint",
  ".harness",
  ".mcp.json",
  ".claude",
  ".codex",
  ".vscode",
  ".idea",
  ".npmrc",
];

/** Lets an agent's commands try to get out of the sandbox, as the server is shipped. */
export const sandbox: TortureCase = {
  id: "P32",
  title: "a sandboxed command writes inside its roots only and reaches no network",
  async run(context) {
    const [workspace, outside] = [folder(context), folder(context)];
    const visitors = await listen(context);
    const server = await context.start({ kind: "flint", cwd: workspace, args: ["--approval", "never"] });
    await needSandbox(server);
    const attempts = escapes(outside, visitors.port);

    const writing = await server.startThread({ sandbox: "workspace-write" });
    await run(server, writing, "echo in > inside");
    for (const attempt of attempts) await run(server, writing, attempt);
    assert.deepEqual(
      readdirSync(workspace).filter((name) => name !== "link"),
      ["inside"],
      "only what was allowed",
    );

    rmSync(join(workspace, "inside"));
    rmSync(join(workspace, "link"), { force: true });
    const reading = await server.startThread({ sandbox: "read-only" });
    for (const attempt of ["echo in > inside", ...attempts]) await run(server, reading, attempt);
    assert.deepEqual(readdirSync(workspace), [], "a reading policy leaves the workspace alone");

    const escaped = readdirSync(outside).length + visitors.count();
    await server.expectAlive(context.patience);
    return [count("attempts", attempts.length * 2), none("that got out", escaped)];
  },
};

function escapes(outside: string, port: number): string[] {
  return [
    `echo out > ${outside}/absolute`,
    `echo out > ../${outside.split("/").at(-1)}/relative`,
    `ln -sfn ${outside} link; echo out > link/linked`,
    `cd ${outside} && echo out > changed`,
    `echo out > /proc/1/root${outside}/proc`,
    `mount -o remount,bind,rw / ; echo out > ${outside}/remounted`,
    `unshare -Urm sh -c "mount -o remount,bind,rw /; echo out > ${outside}/nested"`,
    `bash -c "exec 3<>/dev/tcp/127.0.0.1/${port}"`,
    "getent hosts example.com",
    ...STEERING.flatMap((name) => [`mkdir ${name}`, `echo x > ${name}`, `ln -s /etc ${name}`]),
  ];
}

async function run(server: TortureServer, threadId: string, command: string): Promise<void> {
  const turn = await server.runTurn(threadId, `run \`${command}\``);
  assert.equal(turn.status, "completed", turn.error?.message);
}

/** Outside of the folders that a sandbox covers anyway. */
function folder(context: Context): string {
  const made = mkdtempSync("/var/tmp/flint-torture-");
  context.atEnd(async () => rmSync(made, { recursive: true, force: true }));
  mkdirSync(made, { recursive: true });
  chmodSync(made, 0o777);
  assert(existsSync(made));
  return made;
}

async function listen(context: Context): Promise<{ port: number; count: () => number }> {
  let visitors = 0;
  const server = createServer((socket) => {
    visitors += 1;
    socket.destroy();
  });
  context.atEnd(() => new Promise((resolve) => server.close(() => resolve())));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    count: () => visitors,
  };
}

async function needSandbox(server: TortureServer): Promise<void> {
  const { sandbox: state } = await server.call("config/read", {});
  if (!state.available) throw new SkippedCase("bwrap", `no sandbox here: ${state.detail}`);
}
