import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";

/** Shared, so that each mechanism is tried once. */
const sandboxes = {
  bubblewrap: new CommandSandbox({ environment: process.env, mechanisms: ["bubblewrap"] }),
  namespaces: new CommandSandbox({ environment: process.env, mechanisms: ["namespaces"] }),
};
const unconfined = new CommandSandbox({ environment: process.env, mechanisms: [] });

/** Outside of every temporary folder that a sandbox covers, so that a write that gets through is seen. */
function folder(parent = "/var/tmp"): string {
  const made = mkdtempSync(join(parent, "flint-sandbox-test-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function run(
  sandbox: CommandSandbox,
  script: string,
  workspace: string,
  policy: SandboxPolicy = { type: "workspaceWrite" },
  cwd = workspace,
) {
  let printed = "";
  const output = (text: string) => {
    printed += text;
  };
  const result = await sandbox.launch({
    command: ["sh", "-c", script],
    cwd,
    policy,
    workspace,
    onOutput: output,
  });
  return { ...result, printed };
}

async function listen(): Promise<{ port: number; visitors: () => number }> {
  let visitors = 0;
  const server = createServer((socket) => {
    visitors += 1;
    socket.destroy();
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    visitors: () => visitors,
  };
}

const connectTo = (port: number) => `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' && echo connected`;

describeEachMechanism("confined by %s", (name, test) => {
  const sandbox = sandboxes[name];

  test("it is found by trying it out", async () => {
    expect(await sandbox.state()).toEqual({ available: true, mechanism: name });
  });

  test("a command writes inside the workspace and its roots, and nowhere else [S0-68, P32]", async () => {
    const [workspace, listed, outside] = [folder(), folder(), folder()];
    symlinkSync(outside, join(workspace, "link"));
    const script = [
      "echo in > inside.txt",
      `echo in > ${listed}/inside.txt`,
      `echo out > ${outside}/absolute`,
      `echo out > ../${outside.split("/").at(-1)}/relative`,
      "echo out > link/linked",
      `ln -s ${outside} fresh; echo out > fresh/linked`,
      `cd ${outside}; echo out > moved`,
      "echo out > /etc/flint-sandbox-test",
      "true",
    ].join("\n");
    const policy = { type: "workspaceWrite" as const, writableRoots: [listed] };
    const { exitCode, printed } = await run(sandbox, script, workspace, policy);
    expect({ exitCode, refusals: printed.match(/Read-only file system/g)?.length }).toEqual({
      exitCode: 0,
      refusals: 6,
    });
    expect(readFileSync(join(workspace, "inside.txt"), "utf8")).toBe("in\n");
    expect(readFileSync(join(listed, "inside.txt"), "utf8")).toBe("in\n");
    const escapes = ["absolute", "relative", "linked", "moved"].map((file) => join(outside, file));
    expect([...escapes, "/etc/flint-sandbox-test"].filter((file) => existsSync(file))).toEqual([]);
  });

  test("a folder to run in that a model chose does not become writable [P32]", async () => {
    const [workspace, chosen] = [folder(), folder()];
    const { exitCode } = await run(sandbox, "echo out > file", workspace, undefined, chosen);
    expect({ exitCode, written: existsSync(join(chosen, "file")) }).toEqual({ exitCode: 2, written: false });
  });

  test("a workspace among the temporary files is there and writable, its neighbours are not to be seen", async () => {
    const [workspace, neighbour] = [folder("/tmp"), folder("/tmp")];
    const { printed } = await run(sandbox, `pwd; echo in > file; echo tmp > /tmp/file; ls /tmp`, workspace);
    expect(printed).toBe(`${workspace}\nfile\n${workspace.slice("/tmp/".length)}\n`);
    expect(existsSync(join(workspace, "file"))).toBe(true);
    expect(printed).not.toContain(neighbour);
    expect(existsSync("/tmp/file")).toBe(false);
  });

  test("readOnly lets a command read and write nothing [S0-68, P32]", async () => {
    for (const parent of ["/var/tmp", "/tmp"]) {
      const workspace = folder(parent);
      writeFileSync(join(workspace, "here"), "text\n");
      const { exitCode, printed } = await run(sandbox, "cat here; echo no > here", workspace, {
        type: "readOnly",
      });
      expect(printed).toMatch(/^text\n.*Read-only file system/s);
      expect(exitCode).toBe(2);
      expect(readFileSync(join(workspace, "here"), "utf8")).toBe("text\n");
    }
  });

  test("what steers agents, git and shells cannot be changed, renamed or replaced", async () => {
    const workspace = folder();
    mkdirSync(join(workspace, ".git", "hooks"), { recursive: true });
    writeFileSync(join(workspace, ".mcp.json"), "{}");
    const script =
      "echo x > .git/hooks/a; mv .git old; rm -r .git; echo x > .mcp.json; mv .mcp.json old; echo done";
    const { printed } = await run(sandbox, script, workspace);
    expect(printed).toContain("done");
    expect(existsSync(join(workspace, ".git", "hooks"))).toBe(true);
    expect(existsSync(join(workspace, ".git", "hooks", "a"))).toBe(false);
    expect(readFileSync(join(workspace, ".mcp.json"), "utf8")).toBe("{}");
    expect(existsSync(join(workspace, "old"))).toBe(false);
  });

  test("mounts, kernel settings, disks and further namespaces offer no escape, root included", async () => {
    const [workspace, outside] = [folder(), folder()];
    chmodSync(outside, 0o777);
    const script = [
      `mount -o remount,rw / ; mount -o remount,bind,rw / ; mount -o remount,bind,rw ${outside}`,
      `umount ${workspace}; umount -l /; mount -t tmpfs tmpfs ${outside}`,
      `unshare --user --map-root-user --mount sh -c 'mount -o remount,bind,rw /; echo out > ${outside}/nested'`,
      `echo out > ${outside}/file`,
      // Writes back what is there, so that a hole in the sandbox does no harm.
      `value=$(cat /proc/sys/kernel/core_pattern); echo "$value" > /proc/sys/kernel/core_pattern && echo KERNEL`,
      "find /dev -type b | grep . && echo DISK",
      "grep -E 'Cap(Eff|Prm|Amb)' /proc/self/status | grep -v 0000000000000000 && echo CAPABLE",
      "grep -q 'NoNewPrivs:.1' /proc/self/status && echo bound",
    ].join("\n");
    const { printed } = await run(sandbox, script, workspace);
    expect(printed).toContain("bound");
    expect(printed).not.toMatch(/KERNEL|DISK|CAPABLE/);
    expect([existsSync(join(outside, "file")), existsSync(join(outside, "nested"))]).toEqual([false, false]);
  });

  test("sockets of system services are out of sight", async () => {
    const { printed } = await run(sandbox, "stat -f -c %T /run; find /run -type s", folder());
    expect(printed).toBe("tmpfs\n");
  });

  test("without network a loopback server is out of reach, with network it is not [S0-68, P32]", async () => {
    const { port, visitors } = await listen();
    const workspace = folder();
    const closed = await run(sandbox, connectTo(port), workspace);
    expect({ reached: closed.printed.includes("connected"), visitors: visitors() }).toEqual({
      reached: false,
      visitors: 0,
    });
    const reading = await run(sandbox, connectTo(port), workspace, { type: "readOnly" });
    expect(reading.exitCode).not.toBe(0);
    const open = await run(sandbox, connectTo(port), workspace, {
      type: "workspaceWrite",
      networkAccess: true,
    });
    expect({ reached: open.printed.includes("connected"), exitCode: open.exitCode }).toEqual({
      reached: true,
      exitCode: 0,
    });
  });

  test("a command that signals everything it can reaches only itself", async () => {
    const { exitCode } = await run(sandbox, "trap '' TERM; kill -TERM 0; kill -KILL 0", folder());
    expect(exitCode).toBe(137);
  });

  test("exit codes and unusual folder names come through", async () => {
    const workspace = join(folder(), 'it\'s a "folder" with $HOME and \\040 in it');
    mkdirSync(workspace);
    const { exitCode, printed } = await run(sandbox, "pwd; echo in > file; exit 7", workspace);
    expect({ exitCode, printed }).toEqual({ exitCode: 7, printed: `${workspace}\n` });
    expect(existsSync(join(workspace, "file"))).toBe(true);
  });
});

describe.each(["dangerFullAccess", "externalSandbox"] as const)("%s", (type) => {
  anywhere("a command may write anywhere and use the network, sandbox or not [S0-68]", async () => {
    const { port } = await listen();
    const [workspace, outside] = [folder(), folder()];
    const script = `echo out > ${outside}/file; ${connectTo(port)}`;
    const { exitCode, printed } = await run(unconfined, script, workspace, { type });
    expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: "connected\n" });
    expect(existsSync(join(outside, "file"))).toBe(true);
  });
});

anywhere(
  "without any sandbox, confined commands are refused by name with a way out, and not run [P33]",
  async () => {
    const workspace = folder();
    expect(await unconfined.state()).toMatchObject({ available: false, mechanism: "none" });
    for (const type of ["readOnly", "workspaceWrite"] as const) {
      const refused = run(unconfined, "echo x > ran", workspace, { type });
      await expect(refused).rejects.toMatchObject({
        kind: "sandboxUnavailable",
        message: expect.stringMatching(
          /^Did not run "echo x > ran".*apt-get install bubblewrap.*--sandbox danger-full-access \(dangerFullAccess\)/s,
        ),
      });
    }
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  },
);

anywhere("a mechanism that is not installed says so", async () => {
  const sandbox = new CommandSandbox({ environment: { PATH: "/nowhere" }, mechanisms: ["bubblewrap"] });
  expect(await sandbox.state()).toMatchObject({
    detail: expect.stringContaining("bubblewrap: not installed"),
  });
});

anywhere("a program that only claims to be a sandbox is found out", async () => {
  const bin = folder(tmpdir());
  const pretence = `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`;
  writeFileSync(join(bin, "bwrap"), pretence, { mode: 0o755 });
  const environment = { PATH: `${bin}:${process.env.PATH}` };
  const sandbox = new CommandSandbox({ environment, mechanisms: ["bubblewrap"] });
  expect(await sandbox.state()).toMatchObject({
    available: false,
    detail: expect.stringMatching(/write outside/),
  });
});
