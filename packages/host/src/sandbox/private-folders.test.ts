import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { PrivateFolder } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { needs } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";

const PARTS = { bubblewrap: "bwrap", namespaces: "namespaces" } as const;
const POLICIES: SandboxPolicy[] = [{ type: "workspaceWrite" }, { type: "readOnly" }];

/** A home with the folder of an agent in it: settings, sessions, and scripts that another program runs later. */
function stage(top: string) {
  const home = realpathSync(mkdtempSync(`${top}/flint-private-`));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
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

describe.each(["bubblewrap", "namespaces"] as const)("a private folder, with %s", (name) => {
  const test = needs(PARTS[name]);

  async function run(
    place: ReturnType<typeof stage>,
    policy: SandboxPolicy,
    script: string,
    cwd = place.workspace,
  ) {
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const privateFolders: PrivateFolder[] = [{ path: place.folder, hides: ["snapshots"] }];
    const running = await sandbox.start({
      ...{ command: ["sh", "-c", script], cwd, workspace: cwd, policy, environment: { A: place.folder } },
      ...{ ownPaths: [join(place.folder, "sessions")], privateFolders },
    });
    const [output, errors, { exitCode }] = await Promise.all([
      text(running.stdout),
      text(running.stderr),
      running.exited,
    ]);
    return { output, errors, exitCode };
  }

  for (const policy of POLICIES) {
    for (const top of ["/var/tmp", "/tmp"]) {
      test(`shows what is there, and keeps nothing but what is the program's own (${policy.type}, ${top})`, async () => {
        const place = stage(top);
        const { output, exitCode } = await run(
          place,
          policy,
          `cat $A/settings.json $A/link.json $A/hooks/start.sh $A/sessions/1
          ls $A/snapshots
          mkdir $A/snapshots && echo mine > $A/snapshots/shell.sh && cat $A/snapshots/shell.sh
          mkdir $A/plugin && echo evil > $A/plugin/e.js && cat $A/plugin/e.js
          echo more >> $A/sessions/1; echo two > $A/sessions/2`,
        );
        expect(output).toBe("settings\nsettings\nhook\nsession\nmine\nevil\n");
        expect(exitCode).toBe(0);
        expect(readdirSync(place.folder).sort()).toEqual(
          ["elsewhere", "hooks", "link.json", "sessions", "settings.json", "snapshots"].sort(),
        );
        expect(readFileSync(join(place.folder, "snapshots/shell.sh"), "utf8")).toBe("snapshot\n");
        expect(readFileSync(join(place.folder, "sessions/1"), "utf8")).toBe("session\nmore\n");
        expect(readdirSync(join(place.folder, "sessions"))).toEqual(["1", "2"]);
      });

      test(`lets nothing be changed that is there, by whatever means (${policy.type}, ${top})`, async () => {
        const place = stage(top);
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
        expect((await run(place, policy, script.join("\n"))).output).toBe("");
        expect(readFileSync(join(place.folder, "settings.json"), "utf8")).toBe("settings\n");
        expect(readdirSync(join(place.folder, "hooks"))).toEqual(["start.sh"]);
        expect(readdirSync(place.folder)).toContain("elsewhere");
      });
    }
  }

  test("is private also where the workspace is around it, and not where it is the workspace itself", async () => {
    const place = stage("/var/tmp");
    const policy: SandboxPolicy = { type: "workspaceWrite" };
    const around = await run(place, policy, "echo x > $A/plugin; echo x > $A/settings.json", place.home);
    expect(around.exitCode).not.toBe(0);
    expect(readdirSync(place.folder)).not.toContain("plugin");
    expect(readFileSync(join(place.folder, "settings.json"), "utf8")).toBe("settings\n");
    await run(place, policy, "echo x > $A/plugin", place.folder);
    expect(readdirSync(place.folder)).toContain("plugin");
  });

  test("shows nothing of what it holds where it hides everything, and read-only paths hold in the workspace", async () => {
    const { home, folder } = stage("/var/tmp");
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

  test("is read-only as a whole where it holds too much to be shown piece by piece", async () => {
    const place = stage("/var/tmp");
    for (let at = 0; at < 301; at += 1) writeFileSync(join(place.folder, `${at}`), "");
    const { exitCode } = await run(
      place,
      { type: "workspaceWrite" },
      "echo x > $A/sessions/3; echo x > $A/plugin",
    );
    expect(exitCode).not.toBe(0);
    expect(readdirSync(join(place.folder, "sessions"))).toContain("3");
    expect(readdirSync(place.folder)).not.toContain("plugin");
  });

  test("shows no socket, at its top or below", async () => {
    const place = stage("/var/tmp");
    for (const path of ["top.sock", "hooks/deep.sock", "snapshots/hidden.sock"]) {
      const server = createServer();
      await new Promise<void>((listening) => server.listen(join(place.folder, path), listening));
      onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
    }
    const { output } = await run(
      place,
      { type: "readOnly" },
      "for path in $A/* $A/*/*; do [ ! -S $path ] || echo $path; done; echo looked",
    );
    expect(output).toBe("looked\n");
  });
});
