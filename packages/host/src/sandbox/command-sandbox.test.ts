import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeEachMechanism } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { launch, newFolder } from "./testing/fixture.ts";

/** Shared, so that each mechanism is tried once. */
const sandboxes = {
  bubblewrap: new CommandSandbox({ environment: process.env, mechanisms: ["bubblewrap"] }),
  namespaces: new CommandSandbox({ environment: process.env, mechanisms: ["namespaces"] }),
};
const unconfined = new CommandSandbox({ environment: process.env, mechanisms: [] });

async function listen(): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    connections: () => connections,
  };
}

const connectTo = (port: number) => `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' && echo connected`;

describeEachMechanism("CommandSandbox with %s", (name, test) => {
  const sandbox = sandboxes[name];

  test("is found by a trial", async () => {
    expect(await sandbox.state()).toEqual({ available: true, mechanism: name });
  });

  test("lets a command write in the workspace and its roots only [S0-68, P32]", async () => {
    const [workspace, listed, outside] = [newFolder(), newFolder(), newFolder()];
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
    const { exitCode, printed } = await launch(sandbox, script, workspace, policy);
    expect({ exitCode, refusals: printed.match(/Read-only file system/g)?.length }).toEqual({
      exitCode: 0,
      refusals: 6,
    });
    expect(readFileSync(join(workspace, "inside.txt"), "utf8")).toBe("in\n");
    expect(readFileSync(join(listed, "inside.txt"), "utf8")).toBe("in\n");
    const escapes = ["absolute", "relative", "linked", "moved"].map((file) => join(outside, file));
    expect([...escapes, "/etc/flint-sandbox-test"].filter((file) => existsSync(file))).toEqual([]);
  });

  test("does not make the working directory of a command writable [P32]", async () => {
    const [workspace, chosen] = [newFolder(), newFolder()];
    const { exitCode } = await launch(sandbox, "echo out > file", workspace, undefined, chosen);
    expect({ exitCode, written: existsSync(join(chosen, "file")) }).toEqual({ exitCode: 2, written: false });
  });

  test("shows a workspace in /tmp, and nothing else of /tmp", async () => {
    const [workspace, neighbour] = [newFolder("/tmp"), newFolder("/tmp")];
    const { printed } = await launch(
      sandbox,
      `pwd; echo in > file; echo tmp > /tmp/file; ls /tmp`,
      workspace,
    );
    expect(printed).toBe(`${workspace}\nfile\n${workspace.slice("/tmp/".length)}\n`);
    expect(existsSync(join(workspace, "file"))).toBe(true);
    expect(printed).not.toContain(neighbour);
    expect(existsSync("/tmp/file")).toBe(false);
  });

  test("lets a readOnly command read and not write [S0-68, P32]", async () => {
    for (const parent of ["/var/tmp", "/tmp"]) {
      const workspace = newFolder(parent);
      writeFileSync(join(workspace, "here"), "text\n");
      const { exitCode, printed } = await launch(sandbox, "cat here; echo no > here", workspace, {
        type: "readOnly",
      });
      expect(printed).toMatch(/^text\n.*Read-only file system/s);
      expect(exitCode).toBe(2);
      expect(readFileSync(join(workspace, "here"), "utf8")).toBe("text\n");
    }
  });

  test("keeps the configuration of agents, git and shells from being changed, renamed or replaced", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, ".git", "hooks"), { recursive: true });
    writeFileSync(join(workspace, ".mcp.json"), "{}");
    const script =
      "echo x > .git/hooks/a; mv .git old; rm -r .git; echo x > .mcp.json; mv .mcp.json old; echo done";
    const { printed } = await launch(sandbox, script, workspace);
    expect(printed).toContain("done");
    expect(existsSync(join(workspace, ".git", "hooks"))).toBe(true);
    expect(existsSync(join(workspace, ".git", "hooks", "a"))).toBe(false);
    expect(readFileSync(join(workspace, ".mcp.json"), "utf8")).toBe("{}");
    expect(existsSync(join(workspace, "old"))).toBe(false);
  });

  test("offers no escape through mounts, kernel settings, disks or nested namespaces, even to root", async () => {
    const [workspace, outside] = [newFolder(), newFolder()];
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
    const { printed } = await launch(sandbox, script, workspace);
    expect(printed).toContain("bound");
    expect(printed).not.toMatch(/KERNEL|DISK|CAPABLE/);
    expect([existsSync(join(outside, "file")), existsSync(join(outside, "nested"))]).toEqual([false, false]);
  });

  test("hides the sockets of system services", async () => {
    const { printed } = await launch(sandbox, "stat -f -c %T /run; find /run -type s", newFolder());
    expect(printed).toBe("tmpfs\n");
  });

  test("reaches a loopback server only with network access [S0-68, P32]", async () => {
    const { port, connections } = await listen();
    const workspace = newFolder();
    const closed = await launch(sandbox, connectTo(port), workspace);
    expect({ reached: closed.printed.includes("connected"), connections: connections() }).toEqual({
      reached: false,
      connections: 0,
    });
    const reading = await launch(sandbox, connectTo(port), workspace, { type: "readOnly" });
    expect(reading.exitCode).not.toBe(0);
    const open = await launch(sandbox, connectTo(port), workspace, {
      type: "workspaceWrite",
      networkAccess: true,
    });
    expect({ reached: open.printed.includes("connected"), exitCode: open.exitCode }).toEqual({
      reached: true,
      exitCode: 0,
    });
  });

  test("confines signals to the command itself", async () => {
    const { exitCode } = await launch(sandbox, "trap '' TERM; kill -TERM 0; kill -KILL 0", newFolder());
    expect(exitCode).toBe(137);
  });

  test("passes on exit codes and unusual folder names", async () => {
    const workspace = join(newFolder(), 'it\'s a "folder" with $HOME and \\040 in it');
    mkdirSync(workspace);
    const { exitCode, printed } = await launch(sandbox, "pwd; echo in > file; exit 7", workspace);
    expect({ exitCode, printed }).toEqual({ exitCode: 7, printed: `${workspace}\n` });
    expect(existsSync(join(workspace, "file"))).toBe(true);
  });
});

describe.each(["dangerFullAccess", "externalSandbox"] as const)("%s", (type) => {
  anywhere(
    "lets a command write anywhere and use the network, even without a mechanism [S0-68]",
    async () => {
      const { port } = await listen();
      const [workspace, outside] = [newFolder(), newFolder()];
      const script = `echo out > ${outside}/file; ${connectTo(port)}`;
      const { exitCode, printed } = await launch(unconfined, script, workspace, { type });
      expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: "connected\n" });
      expect(existsSync(join(outside, "file"))).toBe(true);
    },
  );
});

anywhere("rejects sandboxed commands if no mechanism works, and says how to fix it [P33]", async () => {
  const workspace = newFolder();
  expect(await unconfined.state()).toMatchObject({ available: false, mechanism: "none" });
  for (const type of ["readOnly", "workspaceWrite"] as const) {
    const rejected = launch(unconfined, "echo x > ran", workspace, { type });
    await expect(rejected).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(
        /^Did not run "echo x > ran".*apt-get install bubblewrap.*--sandbox danger-full-access \(dangerFullAccess\)/s,
      ),
    });
  }
  expect(existsSync(join(workspace, "ran"))).toBe(false);
});

anywhere("reports a mechanism that is not installed", async () => {
  const sandbox = new CommandSandbox({ environment: { PATH: "/nowhere" }, mechanisms: ["bubblewrap"] });
  expect(await sandbox.state()).toMatchObject({
    detail: expect.stringContaining("bubblewrap: not installed"),
  });
});

anywhere("rejects a bwrap that does not confine", async () => {
  const bin = newFolder(tmpdir());
  const fake = `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`;
  writeFileSync(join(bin, "bwrap"), fake, { mode: 0o755 });
  const environment = { PATH: `${bin}:${process.env.PATH}` };
  const sandbox = new CommandSandbox({ environment, mechanisms: ["bubblewrap"] });
  expect(await sandbox.state()).toMatchObject({
    available: false,
    detail: expect.stringMatching(/write outside/),
  });
});
