import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism, needs } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { MAX_ATTEMPTS } from "./mechanisms/launch.ts";
import { findProgram } from "./processes/program.ts";

const POLICY: SandboxPolicy = { type: "workspaceWrite" };

/** Outside of what is covered as a whole. */
function newFolder(): string {
  const path = realpathSync(mkdtempSync("/var/tmp/flint-fleeting-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function listenAt(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(path, listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
}

/** Takes away one socket of a folder each time it is called, and counts the calls. */
class Thief {
  readonly #folder: string;
  calls = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async with(sockets: number, folder: string): Promise<Thief> {
    for (let at = 0; at < sockets; at += 1) await listenAt(join(folder, `${at}.sock`));
    return new Thief(folder);
  }

  /** A signal that is never aborted. The sandbox asks about it last, when everything to cover is known. */
  signal(): AbortSignal {
    const strike = () => {
      this.calls += 1;
      const left = readdirSync(this.#folder).find((name) => name.endsWith(".sock"));
      if (left !== undefined) rmSync(join(this.#folder, left));
      return false;
    };
    return Object.defineProperty(new AbortController().signal, "aborted", { get: strike });
  }
}

describeEachMechanism(
  "a socket of somebody else that is gone before it is covered by %s",
  (mechanism, test) => {
    async function launch(sockets: number, script: string) {
      const folder = newFolder();
      const workspace = join(folder, "workspace");
      mkdirSync(workspace);
      const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [mechanism] });
      expect(await sandbox.state()).toEqual({ available: true, mechanism });
      const thief = await Thief.with(sockets, folder);
      let printed = "";
      const { exitCode } = await sandbox.launch({
        ...{ command: ["sh", "-c", script], cwd: workspace, workspace, policy: POLICY },
        signal: thief.signal(),
        onOutput: (piece) => {
          printed += piece;
        },
      });
      const runs = join(workspace, "runs");
      return { exitCode, printed, thief, runs: existsSync(runs) ? readFileSync(runs, "utf8") : "" };
    }

    test("is looked for again, and the command runs once, without a word about it", async () => {
      const { exitCode, printed, runs, thief } = await launch(1, "echo run; echo run >> runs; exit 3");
      expect([exitCode, printed, runs]).toEqual([3, "run\n", "run\n"]);
      expect(thief.calls).toBe(2);
    });

    test("is looked for so often and no more: then the command is not run, rather than run uncovered", async () => {
      const { exitCode, printed, runs, thief } = await launch(MAX_ATTEMPTS + 1, "echo run >> runs");
      expect([exitCode, thief.calls, runs]).toEqual([expect.any(Number), MAX_ATTEMPTS, ""]);
      expect(exitCode).not.toBe(0);
      expect(printed).toContain(".sock");
    });
  },
);

/** A sandbox whose `bwrap` takes one of these sockets away whenever it has been told to cover them. */
async function stage(sockets: number) {
  const folder = newFolder();
  const [workspace, attempts, armed] = ["workspace", "attempts", "armed"].map((name) => join(folder, name));
  if (workspace === undefined || attempts === undefined || armed === undefined) throw new Error("No names.");
  const real = await findProgram("bwrap", process.env.PATH ?? "");
  const script = [
    "#!/bin/sh",
    `if [ -e ${armed} ]; then`,
    `  echo >> ${attempts}`,
    `  for socket in ${folder}/*.sock; do [ ! -S "$socket" ] || { rm "$socket"; break; }; done`,
    "fi",
    `exec ${real} "$@"`,
  ];
  mkdirSync(workspace);
  writeFileSync(join(folder, "bwrap"), `${script.join("\n")}\n`);
  chmodSync(join(folder, "bwrap"), 0o755);
  const environment = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  const sandbox = new CommandSandbox({ environment, mechanisms: ["bubblewrap"] });
  // The sandbox is tried once before it is trusted.
  expect(await sandbox.state()).toEqual({ available: true, mechanism: "bubblewrap" });
  for (let at = 0; at < sockets; at += 1) await listenAt(join(folder, `${at}.sock`));
  writeFileSync(armed, "");
  return { sandbox, workspace, attempts: () => readFileSync(attempts, "utf8").length };
}

describe("a socket of somebody else that is gone before bubblewrap covers it", () => {
  const test = needs("bwrap");

  test("does not keep a program that stays from being started either", async () => {
    const { sandbox, workspace, attempts } = await stage(2);
    const command = ["sh", "-c", "echo here; cat"];
    const environment = {};
    const running = await sandbox.start({ command, cwd: workspace, workspace, policy: POLICY, environment });
    running.stdin.end("and there\n");
    expect(await text(running.stdout)).toBe("here\nand there\n");
    expect(await running.exited).toEqual({ exitCode: 0 });
    expect(attempts()).toBeGreaterThan(2);
  });

  test("does not spoil the trial by which the sandbox is trusted", async () => {
    const { sandbox: _, workspace } = await stage(1);
    const environment = { ...process.env, PATH: `${join(workspace, "..")}${delimiter}${process.env.PATH}` };
    const sandbox = new CommandSandbox({ environment, mechanisms: ["bubblewrap"] });
    expect(await sandbox.state()).toEqual({ available: true, mechanism: "bubblewrap" });
  });
});

describeEachMechanism("a command that fails, confined by %s", (name, test) => {
  test("is run once, however it ends, also where sockets are covered", async () => {
    const folder = newFolder();
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    await listenAt(join(folder, "foreign.sock"));
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const policy = POLICY;
    const ends = [];
    for (const end of ["exit 1", "exec 3>&- 2>&-; exit 1", "kill -9 $$", "exec false"]) {
      const command = ["sh", "-c", `echo run >> runs; ${end}`];
      const output = () => undefined;
      ends.push(
        (await sandbox.launch({ command, cwd: workspace, workspace, policy, onOutput: output })).exitCode,
      );
    }
    expect(ends).toEqual([1, 1, 137, 1]);
    expect(readFileSync(join(workspace, "runs"), "utf8")).toBe("run\n".repeat(ends.length));
  });
});
