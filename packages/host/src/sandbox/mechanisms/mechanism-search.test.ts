import { spawn } from "node:child_process";
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { describeEachMechanism, foundProgram, needs, temporaryFolder } from "@flint/testkit";
import { test as anywhere, expect } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { findProgram } from "../processes/program.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import { type Mechanism, type MechanismName, SYSTEM_PATH } from "./launch.ts";
import { MechanismSearch, type TrialRun, tryMechanism } from "./mechanism-search.ts";
import { Namespaces } from "./namespaces.ts";

const mechanism: Mechanism = {
  ...{ name: "bubblewrap", loadsFilter: false, networkHolder: [] },
  launchArguments: (command) => command,
};

/** A trial whose command writes inside and prints this. */
function printing(printed: string): TrialRun {
  return async (argv) => {
    writeFileSync(join(argv.at(-2) ?? "", "inside"), "");
    return printed;
  };
}

anywhere("reports a trial that failed because tools are missing", async () => {
  const run = printing("sh: 1: sed: not found\ncapabilities \nnetwork net:[1]\nprocess pid:[1]\n");
  expect(await tryMechanism(mechanism, run, ["/var/tmp"])).toMatch(
    /^it could not be tested: .*sed: not found/,
  );
});

anywhere("reports remaining capabilities", async () => {
  const run = printing("capabilities 0000000000000400\nnetwork net:[1]\nprocess pid:[1]\n");
  expect(await tryMechanism(mechanism, run, ["/var/tmp"])).toBe("a command in it kept capabilities");
});

/** A mechanism with the programs of this machine. */
async function mechanismOf(name: MechanismName): Promise<Mechanism> {
  const find = async (program: string) => (await findProgram(program, process.env.PATH ?? SYSTEM_PATH)) ?? "";
  if (name === "bubblewrap") return new Bubblewrap(await find("bwrap"), SYSTEM_PATH);
  const tools = { setpriv: await find("setpriv"), unshare: await find("unshare") };
  const identity = { user: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
  return new Namespaces(tools, identity, SYSTEM_PATH);
}

describeEachMechanism("a trial of %s", (name, test) => {
  test("succeeds whichever of its streams is read first", async () => {
    const run: TrialRun = async ([command = "", ...args]) => {
      // Like a sandbox: with a pipe that reports the start, and a separate stderr.
      const { stdio } = spawn(command, args, { stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"] });
      const [, stdout, , , stderr] = await Promise.all(
        stdio.map(async (stream) => (stream instanceof Readable ? await text(stream) : "")),
      );
      const [first, ...rest] = stdout?.split("\n") ?? [];
      return [first, stderr, ...rest].join("\n");
    };
    expect(await tryMechanism(await mechanismOf(name), run, ["/var/tmp"])).toBeUndefined();
  });
});

needs("namespaces")("a PATH that is masked inside does not fail the trial", async () => {
  const sandbox = new CommandSandbox({ environment: { PATH: "/tmp/nothing" }, mechanisms: ["namespaces"] });
  expect(await sandbox.state()).toEqual({ available: true, mechanism: "namespaces" });
});

describeEachMechanism("a search for %s", (name, test) => {
  const search = (environment: Readonly<Record<string, string>>) =>
    new MechanismSearch({
      ...{ environment, searchPath: process.env.PATH ?? "", clock: SYSTEM_CLOCK, mechanisms: [name] },
    });

  test("takes what worked with the same PATH and home over from an earlier one", async () => {
    const environment = { PATH: process.env.PATH ?? "" };
    const first = await search(environment).mechanism();
    expect(first.mechanism?.name).toBe(name);
    expect(await search({ ...environment, OTHER: "variable" }).mechanism()).toBe(first);
    const other = await search({ ...environment, HOME: "/nowhere" }).mechanism();
    expect(other).toEqual(first);
    expect(other).not.toBe(first);
  });
});

needs("bwrap")("tries again what failed in an earlier search", async () => {
  const { path } = await temporaryFolder();
  const state = () => new CommandSandbox({ environment: { PATH: path }, mechanisms: ["bubblewrap"] }).state();
  await state();
  symlinkSync(foundProgram("bwrap") ?? "bwrap", join(path, "bwrap"));
  expect(await state()).toEqual({ available: true, mechanism: "bubblewrap" });
});

needs("bwrap")(
  "a bubblewrap in the folders of a command is not started for it, nor one that links there",
  async () => {
    const [{ path: tools }, { path: project }, { path: links }, { path: other }] = await Promise.all([
      temporaryFolder(),
      temporaryFolder(),
      temporaryFolder(),
      temporaryFolder(),
    ]);
    copyFileSync(foundProgram("bwrap") ?? "bwrap", join(project, "bwrap"));
    symlinkSync(join(project, "bwrap"), join(links, "bwrap"));
    const searchPath = `${links}:${project}:${process.env.PATH}`;
    const options = { environment: { PATH: searchPath }, clock: SYSTEM_CLOCK, systemPath: tools };
    const search = new MechanismSearch({ ...options, searchPath, mechanisms: ["bubblewrap"] });
    const programOf = async (folders: readonly string[]) => {
      const { mechanism } = await search.mechanism(folders);
      return mechanism instanceof Bubblewrap ? mechanism.program : undefined;
    };
    expect(await programOf([other])).toBe(join(links, "bwrap"));
    expect(await programOf([project])).toBe(foundProgram("bwrap"));
    const only = new MechanismSearch({ ...options, searchPath: project, mechanisms: ["bubblewrap"] });
    expect((await only.mechanism([other])).mechanism).toBeInstanceOf(Bubblewrap);
    expect(await only.mechanism([other, project])).toEqual({
      mechanism: undefined,
      failures: ["bubblewrap: not installed"],
    });
  },
);
