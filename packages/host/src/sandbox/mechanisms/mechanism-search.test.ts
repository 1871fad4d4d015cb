import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describeEachMechanism, needs } from "@flint/testkit";
import { test as anywhere, expect } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { findProgram } from "../processes/program.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import { type Mechanism, type MechanismName, SYSTEM_PATH } from "./launch.ts";
import { type TrialRun, tryMechanism } from "./mechanism-search.ts";
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
