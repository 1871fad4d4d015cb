import { mkdir, readdir, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { commandFixture } from "./flint.ts";

describe("the flint command", () => {
  test("answers a question about the folder, with a real command, with an empty home and no key", async () => {
    const { flint, home } = await commandFixture();
    const { code, stdout, stderr } = await flint(["exec", "what is in this folder?"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "flint · offline · permissions: ask\n" });
    expect(stdout).toContain("$ ls");
    expect(stdout).toContain("README.md");
    expect(await readdir(`${home}/.local/state/flint/threads`)).toHaveLength(1);
  });

  test("names the agent that was probably meant, on the command line and in the configuration", async () => {
    const { flint, home } = await commandFixture();
    const given = await flint(["exec", "--agent", "gemnii", "hello"]);
    expect(given.code).toBe(2);
    expect(given.stderr).toContain("No agent gemnii. Did you mean gemini?");
    const refused = await flint(["config", "set", "agent", "cluade"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("No agent cluade. Did you mean claude?");
    await mkdir(`${home}/.config/flint`, { recursive: true });
    await writeFile(`${home}/.config/flint/config.toml`, 'agent = "cluade"\n');
    const configured = await flint(["exec", "hello"]);
    expect(configured.code).toBe(2);
    expect(configured.stderr).toContain("No agent cluade. Did you mean claude?");
    await flint(["config", "set", "agent", "flint"]);
    await flint(["config", "set", "model", "offline"]);
    const { stderr } = await flint(["exec", "hello"], { env: { FLINT_MODEL: "" } });
    expect(stderr).toBe("flint · offline · permissions: ask\n");
  });

  test("declines approvals without a terminal, and explains how to allow them", async () => {
    const { flint, cwd } = await commandFixture();
    const { stdout } = await flint(["exec", "run `touch made.txt`"]);
    expect(stdout).toContain("declined");
    expect(await readdir(cwd)).not.toContain("made.txt");
  });

  test("prints help and version, and rejects unknown arguments with exit code 2", async () => {
    const { flint } = await commandFixture();
    expect((await flint(["--help"])).stdout).toContain('flint exec --offline "show me what you can do"');
    expect((await flint(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const wrong: readonly [readonly string[], RegExp][] = [
      [["exce"], /Unknown command "exce"/],
      [["exec"], /needs a prompt/],
      [["exec", "--sandbox", "none", "hi"], /--sandbox must be read-only/],
      [
        ["exec", "--approval", "sometimes", "hi"],
        /--approval must be never, on-request, unless-trusted, or always/,
      ],
      [["serve", "--port", "1"], /--port/],
      [["serve", "--durability", "some"], /full or relaxed/],
      [["serve", "--approval-timeout", "soon"], /number of seconds/],
      [["schema", "klingon"], /Available: flint, harness/],
    ];
    for (const [args, message] of wrong) {
      const { code, stderr } = await flint(args);
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringMatching(message) });
    }
  });

  test("accepts the short options of other tools", async () => {
    const { flint, cwd } = await commandFixture();
    expect((await flint(["version"])).stdout).toBe((await flint(["--version"])).stdout);
    const printed = await flint(["-m", "flint/offline", "-p", "what is in this folder?", "-C", cwd]);
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining("README.md") });
    expect((await flint(["threads", "ls"])).stdout).toContain("what is in this folder?");
    expect((await flint(["threads", "rm", "last", "--yes"])).stdout).toMatch(/^Deleted /);
    expect((await flint(["rules", "ls"])).code).toBe(0);
    expect((await flint(["fix the tests"])).stderr).toContain('flint exec "fix the tests"');
  });

  test("takes the name of a command after options for the command, and never for a prompt", async () => {
    const { flint } = await commandFixture();
    const { stdout, code } = await flint(["--offline", "exec", "what is in this folder?"]);
    expect({ stdout, code }).toEqual({ stdout: expect.stringContaining("README.md"), code: 0 });
    expect(await flint(["--offline", "resume", "--last"])).toMatchObject({
      ...{ code: 2, stderr: expect.stringMatching(/needs a terminal.*flint resume --help/s) },
    });
    const wrong: readonly [readonly string[], string][] = [
      [["--offline", "tasks", "list"], "Options come after the command: flint tasks"],
      [["--agent", "claude", "login"], 'Unknown command "login"'],
      [["--agent", "claude", "doctor"], "Unknown option --agent"],
    ];
    for (const [args, message] of wrong)
      expect(await flint(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  test("removes a rule without writing what steers the terminal [P36]", async () => {
    const { flint, cwd, home } = await commandFixture();
    const words = "write /tmp/\u001b[2J\na\u202e";
    const match = { type: "exact", path: cwd };
    const rule = { id: "r1", project: cwd, tool: "fileChange", match, scope: "always", words, grantedAt: 0 };
    await writeFile(`${home}/rules.jsonl`, `${JSON.stringify(rule)}\n`);
    const { stdout, stderr } = await flint(["rules", "remove", "r1"], { env: { FLINT_HOME: home } });
    expect({ stdout, stderr }).toEqual({
      stdout: "Removed: write /tmp/\\u{1b}[2J\\na\\u{202e}\n",
      stderr: "",
    });
  });

  test("publishes the protocol as JSON Schema and as TypeScript [S0-93]", async () => {
    const { flint, cwd } = await commandFixture();
    const { stdout } = await flint(["schema", "flint"]);
    expect(Object.keys(JSON.parse(stdout))).toEqual(["flint"]);
    expect((await flint(["schema", "--typescript"])).stdout).toContain("turn/start");
    await flint(["schema", "--out", "out"]);
    expect((await readdir(`${cwd}/out`)).sort()).toEqual(["flint.json", "harness.json"]);
  });
});
