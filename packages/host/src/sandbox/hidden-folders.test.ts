import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";

const ONLINE: SandboxPolicy = { type: "workspaceWrite", networkAccess: true };

/** A state folder with a token and a socket that somebody listens at. */
async function stateFolder(base = "/var/tmp") {
  const path = realpathSync(mkdtempSync(join(base, "flint-hidden-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const run = join(path, "state", "run");
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, "token"), "the-secret");
  // Only where no other command of this machine has to cover it: one that is gone a moment later would stop it.
  if (base !== "/tmp") return { path, run };
  const server = createServer((socket) => socket.end("reached"));
  await new Promise<void>((listening) => server.listen(join(run, "server.sock"), listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return { path, run };
}

const CONNECT = `node -e 'require("net").connect(process.argv[1]).on("data", (d) => console.log(String(d))).on("error", () => 0)'`;

function attack(run: string): string {
  return [
    "exec 2>/dev/null",
    `cat ${run}/token; ls -A ${run}`,
    `${CONNECT} ${run}/server.sock`,
    `umount ${run} && cat ${run}/token`,
    `mv ${run} ${run}-moved && cat ${run}-moved/token`,
    `echo x > ${run}/new && echo MADE`,
    "echo done",
  ].join("\n");
}

describeEachMechanism("a hidden folder, confined by %s", (name, test) => {
  async function printed(
    script: string,
    workspace: string,
    hidden: string,
    policy = ONLINE,
  ): Promise<string> {
    let text = "";
    const output = (piece: string) => {
      text += piece;
    };
    const sandbox = new CommandSandbox({
      environment: process.env,
      mechanisms: [name],
      guarded: { hidden: [hidden] },
    });
    await sandbox.launch({
      command: ["sh", "-c", script],
      cwd: workspace,
      workspace,
      policy,
      onOutput: output,
    });
    return text;
  }

  for (const base of ["/var/tmp", "/tmp"]) {
    test(`in ${base} shows neither the token nor the way in, also to a command with the network`, async () => {
      const { path, run } = await stateFolder(base);
      const attacked = (workspace: string, policy: SandboxPolicy = ONLINE) =>
        printed(attack(run), workspace, run, policy);
      expect(await attacked(path)).toBe("done\n");
      expect(await attacked(path, { type: "readOnly" })).toBe("done\n");
      mkdirSync(join(path, "work"));
      expect(await attacked(join(path, "work"))).toBe("done\n");
    });
  }

  test("is made where it is missing, so that nothing can be put there later and be seen", async () => {
    const { path } = await stateFolder();
    const missing = join(path, "other", "run");
    expect(await printed(attack(missing), path, missing)).toBe("done\n");
    expect(statSync(missing).mode & 0o777).toBe(0o700);
  });
});
