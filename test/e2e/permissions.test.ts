import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { setUpExec } from "./exec-runs.ts";
import { commandFixture } from "./flint.ts";
import { Pty } from "./terminal/exec-pty.ts";

const confined = needs("bwrap");

/** A model that runs these commands, each with what it needs beyond the sandbox, one after the other. */
async function model(calls: readonly object[]) {
  const folder = await temporaryFolder();
  const steps = [...calls.map((input) => [{ call: "shell", input }]), [{ text: "Done." }]];
  await writeFile(folder.join("script.json"), JSON.stringify({ steps }));
  await mkdir(folder.join("cache"));
  return { env: { FLINT_OFFLINE_SCRIPT: folder.join("script.json") }, cache: folder.join("cache") };
}

/** A run in a terminal whose model wants to write a folder outside of the workspace, twice with the same command. */
async function writing(last?: object) {
  const folder = await temporaryFolder();
  const cache = folder.join("cache");
  await mkdir(cache);
  const command = `echo x >> ${cache}/log`;
  const requested = { command, needs: { write: [cache] }, why: "The cache is there." };
  const { env } = await model([requested, last ?? requested]);
  const pty = await Pty.start(["exec", "--offline", "go"], { env, columns: 160 });
  await pty.waitFor("[y]");
  const lines = () => (existsSync(join(cache, "log")) ? readFileSync(join(cache, "log"), "utf8") : "");
  return { pty, cache, command, lines };
}

describe("a command that needs more than its sandbox", () => {
  confined("is asked about in the words of what it may do, and y allows it once", async () => {
    const { pty, cache, command, lines } = await writing();
    const { text } = pty.screen;
    expect(text).toContain(`Allow this command to write ${cache}?`);
    expect(text).toContain(`$ ${command}`);
    expect(text).toContain("The agent says: The cache is there.");
    expect(text).toContain("[y] once  [s] this thread  [a] always here  [A] always here, any agent  [n] no");
    pty.type("y");
    await pty.waitFor("[y]");
    expect(lines()).toBe("x\n");
    pty.type("n");
    expect(await pty.exitCode()).toBe(0);
    expect(lines()).toBe("x\n");
  });

  confined("s allows exactly that command with that folder, for the thread", async () => {
    const { pty, lines } = await writing();
    pty.type("s");
    expect(await pty.exitCode()).toBe(0);
    expect(lines()).toBe("x\nx\n");
  });

  confined("s does not allow another command to write there", async () => {
    const folder = await temporaryFolder();
    const { pty } = await writing({ command: "true; id", needs: { write: [folder.path] } });
    pty.type("s");
    await pty.waitFor(`write ${folder.path}`);
    await pty.waitFor("[y]");
    pty.type("n");
    expect(await pty.exitCode()).toBe(0);
  });

  confined("a makes a rule that flint rules ls shows in the same words", async () => {
    const { pty, cache, command } = await writing();
    pty.type("a");
    expect(await pty.exitCode()).toBe(0);
    const { flint } = await commandFixture();
    const { stdout } = await flint(["rules", "ls"], { env: { FLINT_HOME: pty.home } });
    expect(stdout).toContain(`run: ${command} (in ${pty.workspace}), which may write ${cache}`);
    expect(stdout).toMatch(/ID +AGENT +SCOPE +FOLDER +ALLOWED TO\n\S+ +flint +always /);
  });
});

describe("an unattended run", () => {
  test("lists what was declined with the option that would allow it, and exits with 3", async () => {
    const { env } = await model([{ command: "true", needs: { network: ["registry.example"] } }]);
    const { flint } = await commandFixture();
    const { stderr, code } = await flint(["exec", "--offline", "--approval", "never", "go"], { env });
    expect(stderr).toContain("An action was declined:\n  registry.example (true): Approvals are off");
    expect(stderr).toContain("Allow it with --network registry.example.");
    expect(code).toBe(3);
  });

  test("names the rule of a policy file that declined it", async () => {
    const { env, cache } = await model([{ command: "git push" }]);
    const policy = join(cache, "ci.toml");
    await writeFile(policy, '[[rule]]\ndecision = "deny"\nprefix = ["git", "push"]\n');
    const { flint } = await commandFixture();
    const args = ["exec", "--offline", "--policy", policy, "go"];
    const { stderr, code } = await flint(args, { env });
    expect(stderr).toContain(`git push: Rule 1 of ${policy} (line 1) denies it.`);
    expect(code).toBe(3);
    const { stdout } = await flint([...args, "--json"], { env });
    const ended = stdout.split("\n").find((line) => line.includes('"turn/completed"')) ?? "";
    expect(ended).toContain('"what":"git push"');
    expect(ended).toContain("denies it.");
  });

  test("names the rule of a policy file that allowed it", async () => {
    const { env, cache } = await model([{ command: "touch a" }]);
    const policy = join(cache, "ci.toml");
    await writeFile(policy, '[[rule]]\ndecision = "allow"\nprefix = ["touch"]\n');
    const { flint } = await commandFixture();
    const args = ["exec", "--offline", "--policy", policy, "go"];
    const { stdout, code } = await flint([...args, "--json"], { env });
    const ran = stdout
      .split("\n")
      .find((line) => line.includes('"item/completed"') && line.includes("touch a"));
    expect(ran).toContain('"allowed":{"by":"policyFile"');
    expect(ran).toContain(`Rule 1 of ${policy} (line 1) allows it.`);
    expect(code).toBe(0);
  });

  test("is not started with a rule for an agent that does not exist", async () => {
    const { env, cache } = await model([{ command: "git push" }]);
    const policy = join(cache, "ci.toml");
    await writeFile(policy, '[[rule]]\ndecision = "deny"\nprefix = ["git", "push"]\nagent = "cladue"\n');
    const { flint } = await commandFixture();
    const { stderr, code } = await flint(["exec", "--offline", "--policy", policy, "go"], { env });
    expect(stderr).toContain(`${policy} line 4: rule 1: unknown agent "cladue". Did you mean "claude"?`);
    expect(code).toBe(2);
  });

  test.each([["--permissions", "full-access"], ["--yolo"]])("refuses full access: %s", async (...flags) => {
    const { flint } = await commandFixture();
    const { stderr, code } = await flint(["exec", "--offline", ...flags, "go"]);
    expect(stderr).toContain("Full access has to be confirmed in a terminal.");
    expect(code).toBe(2);
  });
});

test("an agent has the permissions of its own that are configured, unless the command line says otherwise", async () => {
  const agent = '[agents.other]\ncommand = ["false"]\npermissions = "plan"\n';
  const { run } = await setUpExec(`permissions = "accept-edits"\n${agent}`);
  const permissionsWith = async (...flags: readonly string[]) =>
    /permissions: (.*)/.exec((await run([...flags, "go"])).output)?.[1];
  const writing = "approval never, sandbox workspace-write";
  const other = ["--agent", "other"];
  expect(await permissionsWith(...other)).toBe("approval never, sandbox read-only");
  expect(await permissionsWith(...other, "--sandbox", "workspace-write")).toBe(writing);
  expect(await permissionsWith(...other, "--permissions", "auto")).toBe(`${writing}, edits accepted`);
  expect(await permissionsWith("--offline")).toBe(`${writing}, edits accepted`);
});

test("full access is confirmed in a terminal, and anything but y declines it", async () => {
  const pty = await Pty.start(["exec", "--offline", "--yolo", "what is in this folder?"]);
  await pty.waitFor("[y/N]");
  pty.type("\r");
  expect(await pty.exitCode()).toBe(2);
  expect(pty.output).toContain("Full access was not confirmed.");
});
