import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism } from "@flint/testkit";
import { test as anywhere, expect } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { attackOn, attacks, expectUntouched, launch, newHome } from "../testing/fixture.ts";
import { type GuardedLocations, GuardedPaths } from "./guarded-paths.ts";

/** The output of a script, with `done` at its end. */
async function printedBy(sandbox: CommandSandbox, script: string, workspace: string, policy?: SandboxPolicy) {
  return (await launch(sandbox, `${script}\necho done`, workspace, policy)).printed;
}

describeEachMechanism("Flint's own files with %s", (name, test) => {
  const sandboxWith = (guarded: GuardedLocations) =>
    new CommandSandbox({ environment: process.env, mechanisms: [name], guarded });

  test("cannot be changed or moved by a command in the home folder, which can write beside them [P32]", async () => {
    const home = newHome();
    const script = `${attacks(home)}\necho x > .config/other && echo x > .local/state/other && echo x > file && echo fine`;
    expect(await printedBy(sandboxWith(home.guarded), script, home.path)).toBe("fine\ndone\n");
    expectUntouched(home);
    expect([".config/other", "file"].map((file) => existsSync(join(home.path, file)))).toEqual([true, true]);
  });

  test("include single files in the workspace, beside which commands write", async () => {
    const { path } = newHome();
    const file = join(path, "ci", "policy.toml");
    mkdirSync(join(path, "ci"));
    writeFileSync(file, "mine");
    const script = `exec 2>/dev/null; (echo x > ci/policy.toml); rm -f ci/policy.toml; mv ci other; ln -sf /dev/null ci/policy.toml; echo x > ci/more && echo fine`;
    const sandbox = sandboxWith({ lockedFiles: [file] });
    expect(await printedBy(sandbox, script, path)).toBe("fine\ndone\n");
    expect([readFileSync(file, "utf8"), readdirSync(join(path, "ci")).sort()]).toEqual([
      "mine",
      ["more", "policy.toml"],
    ]);
  });

  test("stay protected inside of writable roots and as writable roots", async () => {
    const home = newHome();
    const workspace = join(home.path, "work");
    mkdirSync(workspace);
    const writableRoots = [join(home.path, ".local"), join(home.path, ".config"), home.state, home.path];
    const policy: SandboxPolicy = { type: "workspaceWrite", writableRoots };
    expect(await printedBy(sandboxWith(home.guarded), attacks(home), workspace, policy)).toBe("done\n");
    expect(await printedBy(sandboxWith(home.guarded), attacks(home), home.state)).toBe("done\n");
    expectUntouched(home);
  });

  test("are created empty and private if they are missing, and cannot be filled", async () => {
    const home = newHome();
    for (const part of [".local", ".config"]) rmSync(join(home.path, part), { recursive: true });
    expect(await printedBy(sandboxWith(home.guarded), attacks(home), home.path)).toBe("done\n");
    expect([readdirSync(home.state), readdirSync(home.config)]).toEqual([[], []]);
    expect(statSync(home.state).mode & 0o777).toBe(0o700);
  });

  test("stay protected from a program whose own paths contain them", async () => {
    const home = newHome();
    const own = join(home.state, "agent");
    mkdirSync(own);
    const program = await sandboxWith(home.guarded).start({
      command: ["sh", "-c", `${attacks(home)}\necho x > ${own}/saved && echo fine`],
      ...{ cwd: "/", workspace: "/", policy: { type: "readOnly" }, environment: {} },
      ownPaths: [home.path, join(home.path, ".local"), home.state, home.config, own],
    });
    let printed = "";
    program.stdout.on("data", (chunk: Buffer) => {
      printed += String(chunk);
    });
    await program.exited;
    expect(printed).toBe("fine\n");
    expect(readdirSync(own)).toEqual(["saved"]);
    rmSync(own, { recursive: true });
    expectUntouched(home);
  });

  test("are protected in the workspace if a link leads there", async () => {
    const home = newHome();
    const workspace = join(home.path, "dotfiles");
    mkdirSync(join(workspace, "flint"), { recursive: true });
    writeFileSync(join(workspace, "flint", "config.toml"), "mine");
    rmSync(join(home.config, "config.toml"));
    symlinkSync(join(workspace, "flint", "config.toml"), join(home.config, "config.toml"));
    const script = attackOn(workspace, join(workspace, "flint"), "config.toml");
    expect(await printedBy(sandboxWith(home.guarded), script, workspace)).toBe("MADE\nCHANGED\ndone\n");
    expect(readFileSync(join(home.config, "config.toml"), "utf8")).toBe("mine");
  });

  test("include a settings file at the top of the workspace, which has to exist", async () => {
    const home = newHome();
    const files = [join(home.path, "flint.toml")];
    const rejected = printedBy(sandboxWith({ files }), "touch ran", home.path);
    await expect(rejected).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(/flint\.toml.*does not exist.*read-only/s),
    });
    writeFileSync(join(home.path, "flint.toml"), "mine");
    const script =
      "exec 2>/dev/null; echo evil > flint.toml; mv flint.toml x; rm -f flint.toml; touch beside";
    expect(await printedBy(sandboxWith({ files }), script, home.path)).toBe("done\n");
    expect(readFileSync(join(home.path, "flint.toml"), "utf8")).toBe("mine");
    expect(existsSync(join(home.path, "beside"))).toBe(true);
  });

  test("reject a command that could replace a link to them, and leave nothing behind", async () => {
    const home = newHome();
    const moved = join(home.path, "moved");
    spawnSync("mv", [join(home.path, ".config"), moved]);
    symlinkSync(moved, join(home.path, ".config"));
    const before = readdirSync(home.path);
    await expect(printedBy(sandboxWith(home.guarded), "touch ran", home.path)).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(/\.config leads to .*it is a link.*read-only/s),
    });
    expect(readdirSync(home.path)).toEqual(before);
  });
});

anywhere("neither creates nor lists locations outside of writable folders", async () => {
  const home = newHome();
  const workspace = join(home.path, "work");
  mkdirSync(workspace);
  const locations = {
    folders: [home.state, join(home.path, "missing", "state")],
    files: ["/nowhere/at/all"],
  };
  const guarded = new GuardedPaths(locations);
  expect(await guarded.within([workspace])).toEqual({ paths: [], pins: [], sockets: [] });
  expect(await guarded.within([])).toEqual({ paths: [], pins: [], sockets: [] });
  expect(existsSync(join(home.path, "missing"))).toBe(false);
});

anywhere("follows a link from outside into the workspace", async () => {
  const home = newHome();
  const link = join(newHome().path, "link");
  symlinkSync(`../${home.path.split("/").at(-1)}/.local`, link);
  const guarded = new GuardedPaths({ folders: [`${link}/state/flint`] });
  expect(await guarded.within([home.path])).toEqual({
    paths: [home.state],
    pins: [join(home.path, ".local"), join(home.path, ".local", "state")],
    sockets: [],
  });
});

anywhere("rejects links that form a loop", async () => {
  const home = newHome();
  symlinkSync("b", join(home.path, "a"));
  symlinkSync("a", join(home.path, "b"));
  const guarded = new GuardedPaths({ folders: [join(home.path, "a")] });
  await expect(guarded.within(["/var/empty"])).rejects.toMatchObject({ kind: "sandboxUnavailable" });
});

anywhere("ignores a socket that vanishes while its path is resolved", async () => {
  const { path } = newHome();
  // Deep, so that it takes a while to resolve; the path of a socket is limited in length.
  const folder = join(path, ...Array.from({ length: 24 }, () => "d"));
  mkdirSync(folder, { recursive: true });
  const socket = join(folder, "s");
  for (let round = 0; round < 10; round += 1) {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(socket, listening));
    const search = new GuardedPaths({ sockets: [socket] }).within([path]);
    for (let turn = 0; turn <= round; turn += 1) await setImmediate();
    rmSync(socket);
    expect((await search).paths).toEqual([]);
    await new Promise<void>((closed) => server.close(() => closed()));
  }
});
