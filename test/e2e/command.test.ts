import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { commandPlace } from "./flint.ts";

describe("the flint command", () => {
  test("answers a question about the folder, with a real command, with an empty home and no key", async () => {
    const { flint, home } = await commandPlace();
    const { code, stdout, stderr } = await flint(["exec", "what is in this folder?"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("$ ls");
    expect(stdout).toContain("README.md");
    expect(await readdir(`${home}/.local/state/flint/threads`)).toHaveLength(1);
  });

  test("declines what needs an approval when nobody is at the terminal, and says how to allow it", async () => {
    const { flint, cwd } = await commandPlace();
    const { stdout } = await flint(["exec", "run `touch made.txt`"]);
    expect(stdout).toContain("declined");
    expect(await readdir(cwd)).not.toContain("made.txt");
  });

  test("teaches by --help, knows its version, and refuses nonsense with exit code 2", async () => {
    const { flint } = await commandPlace();
    expect((await flint(["--help"])).stdout).toContain('flint exec "show me what you can do"');
    expect((await flint(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
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
      const { code, stderr } = await flint(args);
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringMatching(message) });
    }
  });

  test("publishes the protocol as JSON Schema and as TypeScript [S0-93]", async () => {
    const { flint, cwd } = await commandPlace();
    const { stdout } = await flint(["schema", "flint"]);
    expect(Object.keys(JSON.parse(stdout))).toEqual(["flint"]);
    expect((await flint(["schema", "--typescript"])).stdout).toContain("turn/start");
    await flint(["schema", "--out", "out"]);
    expect((await readdir(`${cwd}/out`)).sort()).toEqual(["flint.json", "harness.json"]);
  });
});
