import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { MAX_ATTEMPTS } from "./mechanisms/launch.ts";
import { findProgram } from "./processes/program.ts";
import { MAX_SOCKETS } from "./refusals.ts";
import { launch, listenAt, newFolder } from "./testing/fixture.ts";

const POLICY: SandboxPolicy = { type: "workspaceWrite" };

// While sockets vanish as fast as sandboxes are set up, no other test could start one.

/** Removes one socket of a folder each time a command is about to start, and counts the attempts. */
class SocketRemover {
  readonly #folder: string;
  attempts = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async with(sockets: number, folder: string): Promise<SocketRemover> {
    for (let at = 0; at < sockets; at += 1) await listenAt(join(folder, `${at}.sock`));
    return new SocketRemover(folder);
  }

  /** A signal that is never aborted. The sandbox reads it last, when everything to cover is known. */
  signal(): AbortSignal {
    const remove = () => {
      this.attempts += 1;
      const left = readdirSync(this.#folder).find((name) => name.endsWith(".sock"));
      if (left !== undefined) rmSync(join(this.#folder, left));
      return false;
    };
    return Object.defineProperty(new AbortController().signal, "aborted", { get: remove });
  }
}

describeEachMechanism("a foreign socket that vanishes before it is covered, with %s", (mechanism, test) => {
  async function launchRemoving(sockets: number, script: string) {
    const folder = newFolder();
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [mechanism] });
    expect(await sandbox.state()).toEqual({ available: true, mechanism });
    const remover = await SocketRemover.with(sockets, folder);
    let printed = "";
    const { exitCode } = await sandbox.launch({
      ...{ command: ["sh", "-c", script], cwd: workspace, workspace, policy: POLICY },
      signal: remover.signal(),
      onOutput: (piece) => {
        printed += piece;
      },
    });
    const runs = join(workspace, "runs");
    return {
      exitCode,
      printed,
      attempts: remover.attempts,
      runs: existsSync(runs) ? readFileSync(runs, "utf8") : "",
    };
  }

  test("makes the setup start over, and the command runs once", async () => {
    const { exitCode, printed, runs, attempts } = await launchRemoving(
      1,
      "echo run; echo run >> runs; exit 3",
    );
    expect([exitCode, printed, runs]).toEqual([3, "run\n", "run\n"]);
    expect(attempts).toBe(2);
  });

  test("fails the command after the last attempt instead of running it uncovered", async () => {
    const { exitCode, printed, runs, attempts } = await launchRemoving(MAX_ATTEMPTS + 1, "echo run >> runs");
    expect([exitCode, attempts, runs]).toEqual([expect.any(Number), MAX_ATTEMPTS, ""]);
    expect(exitCode).not.toBe(0);
    expect(printed).toContain(".sock");
  });
});

/** A sandbox whose `bwrap` first removes one socket or `*.tmp` file of a folder on each attempt. */
async function setup(sockets: number) {
  const folder = newFolder();
  const workspace = join(folder, "workspace");
  const agentFolder = join(folder, "agent");
  const attempts = join(folder, "attempts");
  const armed = join(folder, "armed");
  const real = await findProgram("bwrap", process.env.PATH ?? "");
  const script = [
    "#!/bin/sh",
    `if [ -e ${armed} ]; then`,
    `  echo >> ${attempts}`,
    `  for path in ${folder}/*.sock ${agentFolder}/*.tmp; do [ ! -e "$path" ] || { rm "$path"; break; }; done`,
    "fi",
    `exec ${real} "$@"`,
  ];
  mkdirSync(workspace);
  mkdirSync(agentFolder);
  writeFileSync(join(folder, "bwrap"), `${script.join("\n")}\n`);
  chmodSync(join(folder, "bwrap"), 0o755);
  const environment = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  const sandbox = new CommandSandbox({ environment, mechanisms: ["bubblewrap"] });
  // The trial of the mechanism comes first.
  expect(await sandbox.state()).toEqual({ available: true, mechanism: "bubblewrap" });
  for (let at = 0; at < sockets; at += 1) await listenAt(join(folder, `${at}.sock`));
  writeFileSync(armed, "");
  return { sandbox, workspace, agentFolder, attempts: () => readFileSync(attempts, "utf8").length };
}

describe("a path that vanishes before bubblewrap mounts it", () => {
  const test = needs("bwrap");

  test("does not keep a program from being started, if it is a socket", async () => {
    const { sandbox, workspace, attempts } = await setup(2);
    const command = ["sh", "-c", "echo here; cat"];
    const environment = {};
    const running = await sandbox.start({ command, cwd: workspace, workspace, policy: POLICY, environment });
    running.stdin.end("and there\n");
    expect(await text(running.stdout)).toBe("here\nand there\n");
    expect(await running.exited).toEqual({ exitCode: 0 });
    expect(attempts()).toBeGreaterThan(2);
  });

  test("does not keep a program from being started, if it is an entry of a private folder", async () => {
    const { sandbox, workspace, agentFolder, attempts } = await setup(0);
    for (const name of ["settings.json", "settings.json.tmp"]) writeFileSync(join(agentFolder, name), "");
    const running = await sandbox.start({
      ...{ command: ["ls", agentFolder], cwd: workspace, workspace, policy: POLICY, environment: {} },
      privateFolders: [{ path: agentFolder }],
    });
    expect(await text(running.stdout)).toBe("settings.json\n");
    expect(await running.exited).toEqual({ exitCode: 0 });
    expect(attempts()).toBeGreaterThan(1);
  });

  test("does not fail the trial of the mechanism", async () => {
    const { sandbox: _, workspace } = await setup(1);
    const environment = { ...process.env, PATH: `${join(workspace, "..")}${delimiter}${process.env.PATH}` };
    const sandbox = new CommandSandbox({ environment, mechanisms: ["bubblewrap"] });
    expect(await sandbox.state()).toEqual({ available: true, mechanism: "bubblewrap" });
  });
});

describeEachMechanism("more foreign sockets than can be covered, with %s", (name, test) => {
  test("reject a command instead of leaving some of them uncovered", async () => {
    const folder = newFolder();
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    for (let at = 0; at <= MAX_SOCKETS; at += 1) await listenAt(join(folder, `${at}.sock`));
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    expect(await sandbox.state()).toEqual({ available: true, mechanism: name });
    await expect(launch(sandbox, "touch ran", workspace)).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringContaining(`the limit is ${MAX_SOCKETS}`),
    });
    expect(readdirSync(workspace)).toEqual([]);
  });
});

describeEachMechanism("a command that fails, confined by %s", (name, test) => {
  test("runs once, however it ends, while sockets are covered", async () => {
    const folder = newFolder();
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    await listenAt(join(folder, "foreign.sock"));
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const ends = [];
    for (const end of ["exit 1", "exec 3>&- 2>&-; exit 1", "kill -9 $$", "exec false"])
      ends.push((await launch(sandbox, `echo run >> runs; ${end}`, workspace)).exitCode);
    expect(ends).toEqual([1, 1, 137, 1]);
    expect(readFileSync(join(workspace, "runs"), "utf8")).toBe("run\n".repeat(ends.length));
  });
});
