import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { PrivateFolder } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism } from "@flint/testkit";
import { expect } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { listenAt, newFolder } from "./testing/fixture.ts";

const POLICIES: SandboxPolicy[] = [{ type: "workspaceWrite" }, { type: "readOnly" }];

/** A home with the folder of an agent: settings, sessions, and scripts that other programs run later. */
function setup(parent: string) {
  const home = newFolder(parent);
  const workspace = join(home, "workspace");
  const folder = join(home, ".agent");
  for (const path of [
    workspace,
    ...["sessions", "hooks", "snapshots", "elsewhere"].map((name) => join(folder, name)),
  ]) {
    mkdirSync(path, { recursive: true });
  }
  writeFileSync(join(folder, "settings.json"), "settings\n");
  writeFileSync(join(folder, "hooks/start.sh"), "hook\n");
  writeFileSync(join(folder, "snapshots/shell.sh"), "snapshot\n");
  writeFileSync(join(folder, "sessions/1"), "session\n");
  symlinkSync("settings.json", join(folder, "link.json"));
  return { home, workspace, folder };
}

describeEachMechanism("a private folder with %s", (name, test) => {
  async function run(
    agent: ReturnType<typeof setup>,
    policy: SandboxPolicy,
    script: string,
    cwd = agent.workspace,
  ) {
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const privateFolders: PrivateFolder[] = [{ path: agent.folder, hides: ["snapshots"] }];
    const running = await sandbox.start({
      ...{ command: ["sh", "-c", script], cwd, workspace: cwd, policy, environment: { A: agent.folder } },
      ...{ ownPaths: [join(agent.folder, "sessions")], privateFolders },
    });
    const [output, errors, { exitCode }] = await Promise.all([
      text(running.stdout),
      text(running.stderr),
      running.exited,
    ]);
    return { output, errors, exitCode };
  }

  for (const policy of POLICIES) {
    for (const parent of ["/var/tmp", "/tmp"]) {
      test(`shows its content, and stores changes to the program's own paths only (${policy.type}, ${parent})`, async () => {
        const agent = setup(parent);
        const { output, errors, exitCode } = await run(
          agent,
          policy,
          `cat $A/settings.json $A/link.json $A/hooks/start.sh $A/sessions/1
          ls $A/snapshots
          mkdir $A/snapshots && echo mine > $A/snapshots/shell.sh && cat $A/snapshots/shell.sh
          mkdir $A/plugin && echo evil > $A/plugin/e.js && cat $A/plugin/e.js
          echo more >> $A/sessions/1; echo two > $A/sessions/2`,
        );
        expect(output, errors).toBe("settings\nsettings\nhook\nsession\nmine\nevil\n");
        expect(exitCode).toBe(0);
        expect(readdirSync(agent.folder).sort()).toEqual(
          ["elsewhere", "hooks", "link.json", "sessions", "settings.json", "snapshots"].sort(),
        );
        expect(readFileSync(join(agent.folder, "snapshots/shell.sh"), "utf8")).toBe("snapshot\n");
        expect(readFileSync(join(agent.folder, "sessions/1"), "utf8")).toBe("session\nmore\n");
        expect(readdirSync(join(agent.folder, "sessions"))).toEqual(["1", "2"]);
      });

      test(`keeps its content from being changed in any way (${policy.type}, ${parent})`, async () => {
        const agent = setup(parent);
        const tries = [
          "echo x > $A/settings.json",
          "rm -f $A/settings.json",
          "mv $A/settings.json $A/old.json",
          "echo x > $A/new && mv -f $A/new $A/settings.json",
          "echo x > $A/hooks/start.sh",
          "echo x > $A/hooks/other.sh",
          "mv $A/hooks $A/old",
          "rm -rf $A/elsewhere",
          "umount $A/settings.json",
          "umount $A",
        ];
        const script = tries.map((attempt) => `( ${attempt} ) && echo ${JSON.stringify(attempt)}`);
        expect((await run(agent, policy, script.join("\n"))).output).toBe("");
        expect(readFileSync(join(agent.folder, "settings.json"), "utf8")).toBe("settings\n");
        expect(readdirSync(join(agent.folder, "hooks"))).toEqual(["start.sh"]);
        expect(readdirSync(agent.folder)).toContain("elsewhere");
      });
    }
  }

  test("is private inside of the workspace, but not if it is the workspace itself", async () => {
    const agent = setup("/var/tmp");
    const policy: SandboxPolicy = { type: "workspaceWrite" };
    const around = await run(agent, policy, "echo x > $A/plugin; echo x > $A/settings.json", agent.home);
    expect(around.exitCode).not.toBe(0);
    expect(readdirSync(agent.folder)).not.toContain("plugin");
    expect(readFileSync(join(agent.folder, "settings.json"), "utf8")).toBe("settings\n");
    await run(agent, policy, "echo x > $A/plugin", agent.folder);
    expect(readdirSync(agent.folder)).toContain("plugin");
  });

  test("is shown empty if it hides everything, and read-only paths apply in the workspace", async () => {
    const { home, folder } = setup("/var/tmp");
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const script =
      "ls $A/snapshots; echo mine > $A/snapshots/x && cat $A/snapshots/x; echo x > $A/new; echo x >> $A/sessions/1";
    const running = await sandbox.start({
      ...{ command: ["sh", "-c", script], cwd: home, workspace: home, policy: { type: "workspaceWrite" } },
      ...{ environment: { A: folder }, ownPaths: [join(folder, "sessions")], readOnlyPaths: [folder] },
      privateFolders: [{ path: join(folder, "snapshots"), hides: "everything" }],
    });
    expect(await text(running.stdout)).toBe("mine\n");
    await running.exited;
    expect(readdirSync(join(folder, "snapshots"))).toEqual(["shell.sh"]);
    expect(readdirSync(folder)).not.toContain("new");
    expect(readFileSync(join(folder, "sessions/1"), "utf8")).toBe("session\nx\n");
  });

  test("is read-only as a whole if it has too many entries", async () => {
    const agent = setup("/var/tmp");
    for (let at = 0; at < 301; at += 1) writeFileSync(join(agent.folder, `${at}`), "");
    const { exitCode } = await run(
      agent,
      { type: "workspaceWrite" },
      "echo x > $A/sessions/3; echo x > $A/plugin",
    );
    expect(exitCode).not.toBe(0);
    expect(readdirSync(join(agent.folder, "sessions"))).toContain("3");
    expect(readdirSync(agent.folder)).not.toContain("plugin");
  });

  test("hides sockets at every depth", async () => {
    const agent = setup("/var/tmp");
    for (const path of ["top.sock", "hooks/deep.sock", "snapshots/hidden.sock"])
      await listenAt(join(agent.folder, path));
    const { output } = await run(
      agent,
      { type: "readOnly" },
      "for path in $A/* $A/*/*; do [ ! -S $path ] || echo $path; done; echo looked",
    );
    expect(output).toBe("looked\n");
  });
});

describeEachMechanism("a hidden path with %s", (name, test) => {
  test("is empty and cannot be written, whether it is a file or a folder [P35]", async () => {
    const workspace = newFolder("/var/tmp");
    mkdirSync(join(workspace, ".gemini"));
    writeFileSync(join(workspace, ".gemini/settings.json"), "steers");
    writeFileSync(join(workspace, ".env"), "steers");
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const running = await sandbox.start({
      command: ["sh", "-c", "ls -A .gemini; cat .env; (echo x > .gemini/x) 2>/dev/null && echo wrote"],
      ...{ cwd: workspace, workspace, policy: { type: "workspaceWrite" }, environment: {} },
      maskedPaths: [".gemini", ".env", ".missing"].map((path) => join(workspace, path)),
    });
    expect(await text(running.stdout)).toBe("");
    await running.exited;
    expect(readFileSync(join(workspace, ".env"), "utf8")).toBe("steers");
  });
});
