import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism } from "@flint/testkit";
import { expect } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { launch, listenAt, newFolder } from "./testing/fixture.ts";

// Sockets are in /tmp: elsewhere, sandboxes of other tests would cover them and fail when they vanish.

const ONLINE: SandboxPolicy = { type: "workspaceWrite", networkAccess: true };

const CONNECT = `node -e 'require("net").connect(process.argv[1]).on("data", (d) => console.log(String(d))).on("error", () => 0)'`;

describeEachMechanism("a socket of Flint with %s", (name, test) => {
  function attackerIn(workspace: string, sockets: readonly string[]) {
    const sandbox = new CommandSandbox({
      environment: process.env,
      mechanisms: [name],
      guarded: { sockets },
    });
    return async (lines: readonly string[], policy: SandboxPolicy = ONLINE): Promise<string> => {
      const script = ["exec 2>/dev/null", ...lines, "echo done"].join("\n");
      return (await launch(sandbox, script, workspace, policy)).printed;
    };
  }

  test("cannot be reached from the workspace that it is in; that of another program can if it is writable", async () => {
    const workspace = newFolder("/tmp");
    const [own, other] = [join(workspace, "flint.sock"), join(workspace, "database.sock")];
    await listenAt(own);
    await listenAt(other);
    const attack = attackerIn(workspace, [own, join(workspace, "not-yet.sock")]);
    const attempts = [
      `${CONNECT} ${own}`,
      `umount ${own} && ${CONNECT} ${own}`,
      `ln ${own} ${own}.link && ${CONNECT} ${own}.link`,
      `mv ${own} ${own}.moved && ${CONNECT} ${own}.moved`,
    ];
    expect(await attack([...attempts, `${CONNECT} ${other}`])).toBe("reached\ndone\n");
    expect(await attack([...attempts, `${CONNECT} ${other}`], { type: "readOnly" })).toBe("done\n");
  });

  test("cannot be reached after a command tried to move its folder", async () => {
    const workspace = newFolder("/tmp");
    mkdirSync(join(workspace, "deep", "run"), { recursive: true });
    const own = join(workspace, "deep", "run", "flint.sock");
    await listenAt(own);
    const attack = attackerIn(workspace, [own]);
    const moves = [`mv ${workspace}/deep/run ${workspace}/run`, `mv ${workspace}/deep ${workspace}/moved`];
    expect(await attack(moves)).toBe("done\n");
    const paths = ["deep/run", "moved/run", "run"].map((folder) => `${workspace}/${folder}/flint.sock`);
    expect(await attack(paths.map((path) => `${CONNECT} ${path}`))).toBe("done\n");
  });

  test("rejects every command if its path contains a link that a command could change", async () => {
    const workspace = newFolder("/tmp");
    mkdirSync(join(workspace, "real"));
    symlinkSync("real", join(workspace, "link"));
    await listenAt(join(workspace, "real", "flint.sock"));
    const attack = attackerIn(workspace, [join(workspace, "link", "flint.sock")]);
    await expect(attack([])).rejects.toThrow("it is a link");
  });

  test("is ignored in a folder that commands do not see", async () => {
    const workspace = newFolder("/tmp");
    const unseen = [newFolder("/dev/shm"), newFolder("/tmp")].map((folder) => join(folder, "flint.sock"));
    for (const path of unseen) await listenAt(path);
    const attack = attackerIn(workspace, unseen);
    expect(await attack(unseen.map((path) => `${CONNECT} ${path}`))).toBe("done\n");
  });
});

/** A state folder with a token, and with a socket if it is in /tmp. */
async function stateFolder(parent = "/var/tmp") {
  const path = newFolder(parent);
  const run = join(path, "state", "run");
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, "token"), "the-secret");
  if (parent === "/tmp") await listenAt(join(run, "server.sock"));
  return { path, run };
}

function attackOn(run: string): string {
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

describeEachMechanism("a hidden folder with %s", (name, test) => {
  async function attack(hidden: string, workspace: string, policy = ONLINE): Promise<string> {
    const guarded = { hidden: [hidden] };
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name], guarded });
    return (await launch(sandbox, attackOn(hidden), workspace, policy)).printed;
  }

  for (const parent of ["/var/tmp", "/tmp"]) {
    test(`shows neither token nor socket in ${parent}, even with network access`, async () => {
      const { path, run } = await stateFolder(parent);
      expect(await attack(run, path)).toBe("done\n");
      expect(await attack(run, path, { type: "readOnly" })).toBe("done\n");
      mkdirSync(join(path, "work"));
      expect(await attack(run, join(path, "work"))).toBe("done\n");
    });
  }

  test("is created if it is missing, so that its later content is hidden too", async () => {
    const { path } = await stateFolder();
    const missing = join(path, "other", "run");
    expect(await attack(missing, path)).toBe("done\n");
    expect(statSync(missing).mode & 0o777).toBe(0o700);
  });
});
