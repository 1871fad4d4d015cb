import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandFixture } from "./flint.ts";

const SESSION = "11111111-1111-4111-8111-111111111111";

describe("flint threads", () => {
  test("lists, shows, searches, exports, names, forks, archives and deletes", async () => {
    const { flint, cwd } = await commandFixture();
    expect((await flint(["threads", "list"])).stdout).toContain("No threads yet");
    await flint(["exec", "what is in this folder?"]);
    const listed = JSON.parse((await flint(["threads", "list", "--json"])).stdout);
    expect(listed).toHaveLength(1);
    const [{ id }] = listed;
    expect((await flint(["threads", "list", "--here"])).stdout).toContain("what is in this folder?");

    const shown = await flint(["threads", "show", "last"]);
    expect(shown.stdout).toContain("README.md");
    expect((await flint(["threads", "search", "readme.md"])).stdout).toContain(id);
    expect((await flint(["threads", "search", "zebra"])).stdout).toContain("was not found");

    await flint(["threads", "export", id, "--out", "thread.md"]);
    expect(await readFile(`${cwd}/thread.md`, "utf8")).toBe(shown.stdout);
    const exported = JSON.parse((await flint(["threads", "export", id, "--format", "json"])).stdout);
    expect(exported.turns[0].status).toBe("completed");

    expect((await flint(["threads", "name", id.slice(0, 13), "the first"])).code).toBe(0);
    const fork = (await flint(["threads", "fork", "the first"])).stdout.trim();
    expect(fork).not.toBe(id);
    expect((await flint(["threads", "archive", fork])).code).toBe(0);
    expect(JSON.parse((await flint(["threads", "list", "--json"])).stdout)).toHaveLength(1);
    expect((await flint(["threads", "list", "--archived"])).stdout).toContain(fork);
    expect((await flint(["threads", "unarchive", fork])).code).toBe(0);

    expect(await flint(["threads", "delete", fork])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    expect((await flint(["threads", "delete", fork, "--yes"])).stdout).toContain("Deleted");
    const gone = await flint(["threads", "show", fork]);
    expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining("flint threads list") });
  });

  test("reverts a turn with its files, and undoes the revert", async () => {
    const { flint, cwd } = await commandFixture();
    await flint(["exec", "--approval", "never", 'write "changed" to README.md']);
    expect(await readFile(`${cwd}/README.md`, "utf8")).toBe("changed\n");
    const preview = await flint(["threads", "revert", "last", "--files", "restore", "--preview"]);
    expect(preview.stdout).toContain("would restore  README.md");
    expect(await readFile(`${cwd}/README.md`, "utf8")).toBe("changed\n");
    const reverted = await flint(["threads", "revert", "last", "--files", "restore"]);
    expect(await readFile(`${cwd}/README.md`, "utf8")).toBe("# Sample\n");
    expect(reverted.stdout).toMatch(/Undo: flint threads revert \S+ --undo last\n$/);
    expect((await flint(["threads", "revert", "last", "--undo", "last"])).stdout).toContain(
      "1 turn restored",
    );
    expect(await readFile(`${cwd}/README.md`, "utf8")).toBe("changed\n");
    expect(await flint(["threads", "revert", "last", "--undo", "last"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no revert to undo"),
    });
    expect((await flint(["threads", "revert", "last", "--undo", "nope"])).stderr).toContain(
      "--undo last undoes the latest one",
    );
  });

  test("an import names the folder that a session says it is of", async () => {
    const { flint, home } = await commandFixture();
    const common = { sessionId: SESSION, cwd: home, timestamp: "2026-11-18T10:00:00.000Z" };
    const text = [{ type: "text", text: "done" }];
    const lines = [
      { type: "user", uuid: "a", ...common, message: { role: "user", content: "fix the tests" } },
      {
        type: "assistant",
        uuid: "b",
        parentUuid: "a",
        ...common,
        message: { role: "assistant", content: text },
      },
    ];
    await mkdir(`${home}/.claude/projects/-project`, { recursive: true });
    const file = `${home}/.claude/projects/-project/${SESSION}.jsonl`;
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const imported = await flint(["threads", "import", "--last"]);
    expect(imported.stderr).toBe("");
    expect(imported.stdout).toMatch(
      new RegExp(`^Imported \\S+ \\(claude, 1 turn\\) of ${home}: fix the tests\n$`),
    );
  });

  test("does not mention files when a revert leaves them alone", async () => {
    const { flint } = await commandFixture();
    await flint(["exec", "--approval", "never", "run `touch made`"]);
    const { stdout } = await flint(["threads", "revert", "last", "--preview"]);
    expect(stdout).toBe(
      "1 turn would be undone\nFiles are unchanged; --files restore would restore them too.\n",
    );
  });

  test("lists the threads that an ambiguous id matches, and the suggested command keeps its arguments", async () => {
    const { flint } = await commandFixture();
    for (let turn = 0; turn < 6; turn += 1) await flint(["exec", `count to ${turn + 2}`]);
    const { code, stderr } = await flint(["exec", "--resume", "0", "hello"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/"0" matches 6 threads:\n( {2}\S+ {2}just now {2}count to \d\n){5} {2}and 1 more/);
    expect(stderr).toContain('Run "flint exec --help"');
    const { stdout } = await flint(["threads", "list", "--here", "--limit", "2"]);
    expect(stdout).toContain("and more; see flint threads list --here --limit 10");
    expect((await flint(["threads", "show"])).stderr).toContain('Run "flint threads show --help"');
    expect((await flint(["threads", "shwo"])).stderr).toContain('Run "flint threads --help"');
  });
});

describe("flint config", () => {
  test("sets, gets and unsets keys, and suggests the nearest known key", async () => {
    const { flint, home } = await commandFixture();
    expect((await flint(["config", "path"])).stdout).toContain(`${home}/.config/flint/config.toml`);
    expect((await flint(["config", "set", "model", "flint/offline"])).code).toBe(0);
    expect((await flint(["config", "set", "budget.turn.tokens", "5000"])).code).toBe(0);
    expect((await flint(["config", "get", "budget.turn.tokens"])).stdout).toBe("5000\n");
    expect((await flint(["config", "get", "sandbox"])).code).toBe(1);
    expect(await flint(["config", "set", "modle", "x"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "model"?'),
    });
    expect((await flint(["config", "unset", "model"])).stdout).toContain("Removed model from");
    expect((await flint(["config", "get", "budget"])).stdout).toBe("budget.turn.tokens = 5000\n");
    expect((await flint(["config", "get"])).stdout).toBe("budget.turn.tokens = 5000\n");
    expect((await flint(["config", "keys"])).stdout).toContain("mcp_servers.*.command");
  });

  test("rejects what a start would reject, and leaves the file unchanged", async () => {
    const { flint, home } = await commandFixture();
    await flint(["config", "set", "sandbox", "read-only"]);
    const wrong: readonly [string, string, string][] = [
      ["writable_roots", '["/srv"]', "require the workspace-write sandbox"],
      ["network_access", "true", "require the workspace-write sandbox"],
      ["providers.lab.api_key_env", "LAB_KEY", "needs a base_url"],
      ["budget.turn.cost_usd", "-1", "budget.turn.cost_usd must be a number above 0, not -1"],
    ];
    for (const [key, value, message] of wrong) {
      expect(await flint(["config", "set", key, value])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
    }
    const file = `${home}/.config/flint/config.toml`;
    expect(await readFile(file, "utf8")).toBe('sandbox = "read-only"\n');
    await flint(["config", "set", "sandbox", "workspace-write"]);
    const relative = await flint(["config", "set", "writable_roots", '["cache"]']);
    expect(relative.stderr).toContain("writable_roots must be absolute folders");
    await flint(["config", "set", "budget.turn.steps", "3"]);
    await flint(["config", "unset", "budget.turn.steps"]);
    expect(await readFile(file, "utf8")).toBe('sandbox = "workspace-write"\n');
  });

  test("shows the settings of a trusted project, and their file", async () => {
    const { flint, cwd } = await commandFixture();
    await flint(["config", "set", "model", "flint/offline"]);
    await mkdir(`${cwd}/.flint`);
    await writeFile(`${cwd}/.flint/config.toml`, "[budget.turn]\nsteps = 7\n");
    expect((await flint(["config", "get"])).stdout).toBe('model = "flint/offline"\n');
    await flint(["trust", "--yes"]);
    expect((await flint(["config", "get"])).stdout).toBe(
      'model = "flint/offline"\nbudget.turn.steps = 7  # .flint/config.toml in this folder\n',
    );
    expect(await flint(["config", "get", "budget.turn.steps"])).toEqual({
      code: 0,
      stdout: "7\n",
      stderr: "(from .flint/config.toml in this folder)\n",
    });
    expect((await flint(["trust", "--revoke"])).stdout).toBe("No longer trusted: .flint/config.toml.\n");
    expect((await flint(["trust", "--revoke"])).stdout).toMatch(/^No trusted files in .*\.\n$/);
  });

  test("with an error does not block thread commands, and can be fixed by the command", async () => {
    const { flint, home } = await commandFixture();
    await flint(["exec", "count to 2"]);
    await mkdir(`${home}/.config/flint`, { recursive: true });
    await writeFile(`${home}/.config/flint/config.toml`, 'sandbx = "read-only"\ndurability = 5\n');
    const listed = await flint(["threads", "list"]);
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("count to 2") });
    expect(listed.stderr).toContain("Ignoring the configuration here");
    for (const args of [["--help"], ["schema"], ["config", "path"], ["threads", "show", "last"]])
      expect((await flint(args)).code).toBe(0);
    expect((await flint(["config", "set", "durability", "full"])).code).toBe(0);
    expect((await flint(["config", "unset", "sandbx"])).code).toBe(0);
    expect((await flint(["exec", "-q", "count to 2"])).stdout).toBe("1 2.\n");
  });

  test("with an error stops every command that uses it, naming the line", async () => {
    const { flint, home } = await commandFixture();
    await mkdir(`${home}/.config/flint`, { recursive: true });
    await writeFile(`${home}/.config/flint/config.toml`, '\nsandbx = "read-only"\n');
    const { code, stderr } = await flint(["exec", "hello"]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('line 2: unknown key "sandbx"'),
    });
    expect((await flint(["doctor"])).stdout).toContain('unknown key "sandbx"');
  });

  test("decides the sandbox of a turn", async () => {
    const { flint, cwd } = await commandFixture();
    await flint(["config", "set", "sandbox", "read-only"]);
    const { stdout } = await flint(["exec", "--approval", "never", "run `touch made`"]);
    expect(stdout).toContain("Read-only file system");
    await flint(["exec", "--approval", "never", "--sandbox", "workspace-write", "run `touch made`"]);
    expect(execFileSync("ls", [cwd], { encoding: "utf8" })).toContain("made");
  });
});

describe("flint trust", () => {
  test("shows the files of a folder before they take effect [P35]", async () => {
    const { flint, cwd } = await commandFixture();
    await mkdir(`${cwd}/.flint`);
    await writeFile(`${cwd}/.flint/config.toml`, 'approval_policy = "never"\n');
    const before = await flint(["exec", "run `touch one`"]);
    expect(before.stdout + before.stderr).toContain("flint trust");
    expect(execFileSync("ls", [cwd], { encoding: "utf8" })).not.toContain("one");
    expect(await flint(["trust"])).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('approval_policy = "never"'),
    });
    expect((await flint(["trust", "--yes"])).stdout).toContain("Trusted: .flint/config.toml");
    await flint(["exec", "run `touch two`"]);
    expect(execFileSync("ls", [cwd], { encoding: "utf8" })).toContain("two");
    await writeFile(`${cwd}/.flint/config.toml`, 'approval_policy = "never" # changed\n');
    await flint(["exec", "run `touch three`"]);
    expect(execFileSync("ls", [cwd], { encoding: "utf8" })).not.toContain("three");
    expect((await flint(["trust", "--revoke"])).code).toBe(0);
  });

  test("is not granted by a repository's own configuration for the harness front end [P35]", async () => {
    const { flint, cwd } = await commandFixture();
    await mkdir(`${cwd}/.harness`);
    await writeFile(`${cwd}/.mcp.json`, '{"mcpServers":{"evil":{"command":"touch","args":["evil"]}}}');
    await flint(["trust", "--yes"]);
    const given = await readFile(`${cwd}/../home/.local/state/flint/trust.json`, "utf8");
    await flint(["trust", "--revoke"]);
    await writeFile(`${cwd}/.harness/trust.json`, given);
    const { stdout } = await flint(["harness-client", "--cwd", cwd, "hello"]);
    expect(stdout).not.toBe("");
    expect(execFileSync("ls", [cwd], { encoding: "utf8" })).not.toContain("evil");
  });
});

describe("flint doctor", () => {
  test("reports what is installed, what is missing, and how to install it", async () => {
    const { flint } = await commandFixture();
    const { code, stdout } = await flint(["doctor"], {
      env: { OPENAI_API_KEY: "sk-not-shown-anywhere-0000" },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {2}sandbox +(bubblewrap|namespaces)$/m);
    expect(stdout).toContain("OPENAI_API_KEY is set");
    expect(stdout).toContain("export ANTHROPIC_API_KEY=");
    expect(stdout).not.toContain("not-shown-anywhere");
    const found = JSON.parse((await flint(["doctor", "--json"])).stdout);
    expect(found.map(({ name }: { name: string }) => name)).toContain("Ollama");
  });

  test("checks everything that is configured, and one error does not hide another", async () => {
    const { flint, home } = await commandFixture();
    await mkdir(`${home}/.config/flint`, { recursive: true });
    await writeFile(
      `${home}/.config/flint/config.toml`,
      [
        'model = "flint/zebra"',
        '[providers.dead]\nbase_url = "http://127.0.0.1:9/v1"',
        '[providers.keyless]\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "KEY_THAT_IS_NOT_SET"',
        '[mcp_servers.gone]\ncommand = "no-such-program"',
        '[mcp_servers.web]\nurl = "https://issues.example/mcp"',
      ].join("\n"),
    );
    const { code, stdout } = await flint(["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FIX model .*zebra/m);
    expect(stdout).toMatch(/^FIX dead .*127\.0\.0\.1:9/m);
    expect(stdout).toMatch(/^FIX keyless .*KEY_THAT_IS_NOT_SET is not set/m);
    expect(stdout).toMatch(/^FIX MCP server +gone: command not found: no-such-program/m);
    expect(stdout).toMatch(/^ok {2}MCP server +web at https:\/\/issues\.example$/m);
    expect(stdout).toMatch(/^- {3}Anthropic/m);
    expect((await flint(["models"])).stdout).toMatch(/The default model cannot be used: .*zebra/);
    await writeFile(`${home}/.config/flint/config.toml`, 'sandbox = "read-only"\n');
    expect((await flint(["doctor"])).stdout).toMatch(/configuration +1 key in /);
  });
});

describe("flint model serve", () => {
  test("reports that a port is in use", async () => {
    const { flint } = await commandFixture();
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await flint(["model", "serve", "--port", String(port)])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Port ${port} is already in use.`),
    });
  });
});

describe("flint without a home folder", () => {
  test("names the variable to set, and needs it only if no folder is configured", async () => {
    const { flint, cwd } = await commandFixture();
    const homeless = await flint(["threads", "list"], { env: { HOME: "" } });
    expect(homeless).toMatchObject({
      code: 1,
      stderr: "flint: No home folder found. Set HOME, or FLINT_HOME and FLINT_CONFIG.\n",
    });
    const env = { HOME: "", FLINT_HOME: `${cwd}/../state`, FLINT_CONFIG: `${cwd}/../config.toml` };
    expect((await flint(["threads", "list"], { env })).code).toBe(0);
    const nowhere = await flint(["threads", "list"], { env: { FLINT_HOME: "/proc/flint" } });
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining("no folder can be created")]);
  });
});

describe("flint completions", () => {
  test("completes commands, options and their values in bash", async () => {
    const { flint, cwd } = await commandFixture();
    await writeFile(`${cwd}/complete.bash`, (await flint(["completions", "bash"])).stdout);
    const complete = (...words: readonly string[]) =>
      execFileSync(
        "bash",
        [
          "-c",
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a word of bash
          'source ./complete.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flint; echo "${COMPREPLY[*]}"',
          "bash",
          ...words,
        ],
        { cwd, encoding: "utf8" },
      ).trim();
    expect(complete("flint", "thr")).toBe("threads");
    expect(complete("flint", "threads", "exp")).toBe("export");
    expect(complete("flint", "threads", "export", "--fo")).toBe("--format");
    expect(complete("flint", "threads", "export", "--format", "")).toBe("markdown json");
    expect(complete("flint", "exec", "--sandbox", "read")).toBe("read-only");
    expect(complete("flint", "completions", "z")).toBe("zsh");
  });

  test("has every command in zsh and fish", async () => {
    const { flint } = await commandFixture();
    for (const shell of ["zsh", "fish"]) {
      const { stdout } = await flint(["completions", shell]);
      for (const word of ["exec", "threads", "doctor", "unarchive", "output-schema"])
        expect(stdout).toContain(word);
    }
    expect(await flint(["completions", "tcsh"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("bash, zsh and fish"),
    });
  });
});

describe("help", () => {
  test("has examples for each command, and suggests the nearest command", async () => {
    const { flint } = await commandFixture();
    for (const args of [
      ["exec"],
      ["threads"],
      ["threads", "export"],
      ["config", "set"],
      ["model", "serve"],
    ]) {
      const { code, stdout } = await flint([...args, "--help"]);
      expect({ code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`flint ${args.join(" ")}`),
      });
      expect(stdout).toContain("Examples:");
    }
    expect((await flint(["help", "exec"])).stdout).toContain("--resume");
    expect((await flint(["thread", "list"])).stderr).toContain("Did you mean flint threads?");
    expect((await flint(["undo"])).stderr).toContain("flint threads revert last --files restore");
    expect((await flint(["exec", "--modle", "x", "hi"])).stderr).toContain("Did you mean --model?");
  });
});
