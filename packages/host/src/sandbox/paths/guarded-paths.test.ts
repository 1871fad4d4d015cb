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
import { type GuardedLocations, GuardedPaths } from "./guarded-paths.ts";
import { attackOn, attacks, expectUntouched, home, run } from "./testing/guarded-home.ts";

describeEachMechanism("Flint's own files, confined by %s", (name, test) => {
  const sandboxOf = (guarded: GuardedLocations) =>
    new CommandSandbox({ environment: process.env, mechanisms: [name], guarded });

  test("a command in the home folder writes around them, but neither them nor what they lie in [P32]", async () => {
    const known = home();
    const script = `${attacks(known)}\necho x > .config/other && echo x > .local/state/other && echo x > file && echo fine`;
    expect(await run(sandboxOf(known.places), script, known.path)).toBe("fine\ndone\n");
    expectUntouched(known);
    expect([".config/other", "file"].map((file) => existsSync(join(known.path, file)))).toEqual([true, true]);
  });

  test("a listed root around them or equal to them changes nothing", async () => {
    const known = home();
    const workspace = join(known.path, "work");
    mkdirSync(workspace);
    const writableRoots = [join(known.path, ".local"), join(known.path, ".config"), known.state, known.path];
    const policy: SandboxPolicy = { type: "workspaceWrite", writableRoots };
    expect(await run(sandboxOf(known.places), attacks(known), workspace, policy)).toBe("done\n");
    expect(await run(sandboxOf(known.places), attacks(known), known.state)).toBe("done\n");
    expectUntouched(known);
  });

  test("where they are missing they are made, empty and for the user alone, and cannot be filled", async () => {
    const known = home();
    for (const part of [".local", ".config"]) rmSync(join(known.path, part), { recursive: true });
    expect(await run(sandboxOf(known.places), attacks(known), known.path)).toBe("done\n");
    expect([readdirSync(known.state), readdirSync(known.config)]).toEqual([[], []]);
    expect(statSync(known.state).mode & 0o777).toBe(0o700);
  });

  test("a program that stays gets at them by none of the paths that are its own", async () => {
    const known = home();
    const own = join(known.state, "agent");
    mkdirSync(own);
    const program = await sandboxOf(known.places).start({
      command: ["sh", "-c", `${attacks(known)}\necho x > ${own}/kept && echo fine`],
      ...{ cwd: "/", workspace: "/", policy: { type: "readOnly" }, environment: {} },
      ownPaths: [known.path, join(known.path, ".local"), known.state, known.config, own],
    });
    let printed = "";
    program.stdout.on("data", (chunk: Buffer) => {
      printed += String(chunk);
    });
    await program.exited;
    expect(printed).toBe("fine\n");
    expect(readdirSync(own)).toEqual(["kept"]);
    rmSync(own, { recursive: true });
    expectUntouched(known);
  });

  test("settings that a link keeps in the workspace are guarded there", async () => {
    const known = home();
    const workspace = join(known.path, "dotfiles");
    mkdirSync(join(workspace, "flint"), { recursive: true });
    writeFileSync(join(workspace, "flint", "config.toml"), "mine");
    rmSync(join(known.config, "config.toml"));
    symlinkSync(join(workspace, "flint", "config.toml"), join(known.config, "config.toml"));
    const script = attackOn(workspace, join(workspace, "flint"), "config.toml");
    expect(await run(sandboxOf(known.places), script, workspace)).toBe("MADE\nCHANGED\ndone\n");
    expect(readFileSync(join(known.config, "config.toml"), "utf8")).toBe("mine");
  });

  test("a settings file at the top of the workspace is guarded alone, and has to exist", async () => {
    const known = home();
    const files = [join(known.path, "flint.toml")];
    const refused = run(sandboxOf({ files }), "touch ran", known.path);
    await expect(refused).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(/flint\.toml.*does not exist.*read-only/s),
    });
    writeFileSync(join(known.path, "flint.toml"), "mine");
    const script =
      "exec 2>/dev/null; echo evil > flint.toml; mv flint.toml x; rm -f flint.toml; touch beside";
    expect(await run(sandboxOf({ files }), script, known.path)).toBe("done\n");
    expect(readFileSync(join(known.path, "flint.toml"), "utf8")).toBe("mine");
    expect(existsSync(join(known.path, "beside"))).toBe(true);
  });

  test("a link that a command could replace is refused by name, and nothing is left behind", async () => {
    const known = home();
    const moved = join(known.path, "moved");
    spawnSync("mv", [join(known.path, ".config"), moved]);
    symlinkSync(moved, join(known.path, ".config"));
    const before = readdirSync(known.path);
    await expect(run(sandboxOf(known.places), "touch ran", known.path)).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(/\.config leads to .*it is a link.*read-only/s),
    });
    expect(readdirSync(known.path)).toEqual(before);
  });
});

anywhere("what lies outside of everything that may be written is neither made nor listed", async () => {
  const known = home();
  const workspace = join(known.path, "work");
  mkdirSync(workspace);
  const places = { folders: [known.state, join(known.path, "missing", "state")], files: ["/nowhere/at/all"] };
  const guarded = new GuardedPaths(places);
  expect(await guarded.within([workspace])).toEqual({ paths: [], pins: [], sockets: [] });
  expect(await guarded.within([])).toEqual({ paths: [], pins: [], sockets: [] });
  expect(existsSync(join(known.path, "missing"))).toBe(false);
});

anywhere("a link outside that leads into the workspace is followed", async () => {
  const known = home();
  const link = join(home().path, "link");
  symlinkSync(`../${known.path.split("/").at(-1)}/.local`, link);
  const guarded = new GuardedPaths({ folders: [`${link}/state/flint`] });
  expect(await guarded.within([known.path])).toEqual({
    paths: [known.state],
    pins: [join(known.path, ".local"), join(known.path, ".local", "state")],
    sockets: [],
  });
});

anywhere("links that lead in a circle are refused", async () => {
  const known = home();
  symlinkSync("b", join(known.path, "a"));
  symlinkSync("a", join(known.path, "b"));
  const guarded = new GuardedPaths({ folders: [join(known.path, "a")] });
  await expect(guarded.within(["/var/empty"])).rejects.toMatchObject({ kind: "sandboxUnavailable" });
});

anywhere("a socket that is gone while the way to it is looked at needs no protection any more", async () => {
  const { path } = home();
  // Deep, so that the look takes a while; the name of a socket must not get too long.
  const folder = join(path, ...Array.from({ length: 24 }, () => "d"));
  mkdirSync(folder, { recursive: true });
  const socket = join(folder, "s");
  for (let round = 0; round < 10; round += 1) {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(socket, listening));
    const looking = new GuardedPaths({ sockets: [socket] }).within([path]);
    for (let turn = 0; turn <= round; turn += 1) await setImmediate();
    rmSync(socket);
    expect((await looking).paths).toEqual([]);
    await new Promise<void>((closed) => server.close(() => closed()));
  }
});
