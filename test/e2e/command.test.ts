import { execFile } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { FLINT } from "./server.ts";

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function flint(cwd: string, args: readonly string[]): Promise<Ran> {
  const env = { PATH: process.env.PATH, HOME: `${cwd}/home`, LANG: "C.UTF-8" };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [FLINT, ...args], { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

async function workspace(): Promise<string> {
  const { path } = await temporaryFolder();
  await mkdir(`${path}/home`);
  await writeFile(`${path}/README.md`, "# Sample\n");
  return path;
}

describe("the flint command", () => {
  test("answers a question about the folder, with a real command, with an empty home and no key", async () => {
    const path = await workspace();
    const { code, stdout, stderr } = await flint(path, ["exec", "what is in this folder?"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("$ ls");
    expect(stdout).toContain("README.md");
    expect(await readdir(`${path}/home/.local/state/flint/threads`)).toHaveLength(1);
  });

  test("declines what needs an approval when nobody is at the terminal, and says how to allow it", async () => {
    const path = await workspace();
    const { stdout } = await flint(path, ["exec", "run `touch made.txt`"]);
    expect(stdout).toContain("declined");
    expect(await readdir(path)).not.toContain("made.txt");
  });

  test("teaches by --help, knows its version, and refuses nonsense with exit code 2", async () => {
    const path = await workspace();
    expect((await flint(path, ["--help"])).stdout).toContain('flint exec "what is in this folder?"');
    expect((await flint(path, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const wrong: readonly [readonly string[], RegExp][] = [
      [["exce"], /no command "exce"/],
      [["exec"], /needs a prompt/],
      [["exec", "--sandbox", "none", "hi"], /--sandbox takes read-only/],
      [["exec", "--approval", "sometimes", "hi"], /--approval takes never/],
      [["serve", "--port", "1"], /--port/],
      [["serve", "--durability", "some"], /full or relaxed/],
      [["serve", "--approval-timeout", "soon"], /number of seconds/],
      [["schema", "klingon"], /there are flint, harness/],
    ];
    for (const [args, message] of wrong) {
      const { code, stderr } = await flint(path, args);
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringMatching(message) });
    }
  });

  test("publishes the protocol as JSON Schema and as TypeScript [S0-93]", async () => {
    const path = await workspace();
    const { stdout } = await flint(path, ["schema", "flint"]);
    expect(Object.keys(JSON.parse(stdout))).toEqual(["flint"]);
    expect((await flint(path, ["schema", "--typescript"])).stdout).toContain("turn/start");
    await flint(path, ["schema", "--out", "out"]);
    expect((await readdir(`${path}/out`)).sort()).toEqual(["flint.json", "harness.json"]);
  });
});
