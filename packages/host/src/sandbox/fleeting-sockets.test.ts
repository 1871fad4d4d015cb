import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import type { SandboxPolicy } from "@flint/protocol";
import { needs } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { findProgram } from "./program.ts";
import { MOST_LOOKS } from "./sockets.ts";

const POLICY: SandboxPolicy = { type: "workspaceWrite" };
const PARTS = { bubblewrap: "bwrap", namespaces: "namespaces" } as const;

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

describe("a socket of somebody else that is gone before it is covered", () => {
  const test = needs("bwrap");

  test("is looked for again, and the command runs once, without a word about it", async () => {
    const { sandbox, workspace, attempts } = await stage(1);
    let printed = "";
    const output = (piece: string) => {
      printed += piece;
    };
    const command = ["sh", "-c", "echo run; echo run >> runs; exit 3"];
    const result = await sandbox.launch({ command, cwd: workspace, workspace, policy: POLICY, output });
    expect([result.exitCode, printed]).toEqual([3, "run\n"]);
    expect(attempts()).toBeGreaterThan(1);
    expect(readFileSync(join(workspace, "runs"), "utf8")).toBe("run\n");
  });

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

  test("is looked for so often and no more: then the command is not run, rather than run uncovered", async () => {
    const { sandbox, workspace, attempts } = await stage(MOST_LOOKS + 1);
    let printed = "";
    const output = (piece: string) => {
      printed += piece;
    };
    const command = ["sh", "-c", "echo run >> runs"];
    const result = await sandbox.launch({ command, cwd: workspace, workspace, policy: POLICY, output });
    expect([result.exitCode, attempts()]).toEqual([1, MOST_LOOKS]);
    expect(printed).toContain(".sock");
    expect(existsSync(join(workspace, "runs"))).toBe(false);
  });

  test("does not spoil the trial by which the sandbox is trusted", async () => {
    const { sandbox: _, workspace } = await stage(1);
    const environment = { ...process.env, PATH: `${join(workspace, "..")}${delimiter}${process.env.PATH}` };
    const sandbox = new CommandSandbox({ environment, mechanisms: ["bubblewrap"] });
    expect(await sandbox.state()).toEqual({ available: true, mechanism: "bubblewrap" });
  });
});

describe.each(["bubblewrap", "namespaces"] as const)("a command that fails, confined by %s", (name) => {
  needs(PARTS[name])("is run once, however it ends, also where sockets are covered", async () => {
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
      ends.push((await sandbox.launch({ command, cwd: workspace, workspace, policy, output })).exitCode);
    }
    expect(ends).toEqual([1, 1, 137, 1]);
    expect(readFileSync(join(workspace, "runs"), "utf8")).toBe("run\n".repeat(ends.length));
  });
});
