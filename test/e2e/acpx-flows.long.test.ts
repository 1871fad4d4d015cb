import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder, agentProgram, leavesNoProcess, needs } from "@flint/testkit";
import { expect } from "vitest";
import { environmentIn } from "./codex/sdk.ts";
import { commitAs, connectTo, FILES, localServer, OUTSIDE, titlesIn } from "./permission-flows.ts";
import { choosing, DONE, SCRIPTED_AGENTS, type ScriptedAgent } from "./scripted-agents.ts";
import { FLINT } from "./server.ts";

/** Every run starts several programs, on a machine that may be busy. */
const TEST_MS = 120_000;

for (const scripted of SCRIPTED_AGENTS) {
  const { agent, program } = scripted;
  needs(
    "acpx",
    "bwrap",
    "git",
    "curl",
    ...(program === undefined ? [] : [program]),
  )(
    `acpx answers for a command of ${agent} that leaves the sandbox, for its connection, commit and file`,
    async () => {
      const { port, paths } = await localServer();
      const { run, folder, cwd } = await acpx(scripted, port);
      const denied = await run("--deny-all");
      expect(denied).toMatch(/\(failed\)/);
      expect(denied).toContain(`Flint refused the connection to localhost:${port}: it was declined.`);
      expect([join(folder, "count"), join(cwd, FILES.allowed)].filter(existsSync), denied).toEqual([]);
      expect(paths).toEqual([]);
      expect(await titlesIn(cwd)).toEqual({ branch: "first\n", kept: "kept\nfirst\n" });
      const allowed = await run("--approve-all");
      expect(allowed).toMatch(/\(completed\)[\s\S]*lantern/);
      expect(allowed).not.toContain("flint-run");
      expect(await readFile(join(folder, "count"), "utf8")).toBe("run\n");
      expect(await readFile(join(cwd, FILES.allowed), "utf8")).toBe("lantern\n");
      expect([paths, (await titlesIn(cwd)).branch]).toEqual([["/allowed"], "kept\nfirst\n"]);
    },
    TEST_MS,
  );
}

/** The real acpx with the built command as its agent, and behind that the real agent with a script for its model. */
async function acpx(scripted: ScriptedAgent, port: number) {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const [cwd, home] = [join(folder, "workspace"), join(folder, "home")];
  await Promise.all([mkdir(cwd), mkdir(home)]);
  execFileSync("git", ["init", "--quiet", "--initial-branch=main"], { cwd });
  execFileSync("sh", ["-c", commitAs("first")], { cwd });
  const { options, configuration } = choosing(scripted);
  await writeFile(join(home, "config.toml"), configuration);
  const script = join(folder, "script.json");
  const steps = [
    scripted.leave(OUTSIDE.allowed, OUTSIDE.why),
    scripted.run(connectTo(port, "allowed")),
    scripted.run(commitAs("kept")),
    scripted.write(FILES.allowed, "lantern"),
    DONE,
  ];
  await writeFile(script, JSON.stringify({ steps }));
  const env = { ...environmentIn(home), FLINT_OFFLINE_SCRIPT: script };
  // acpx answers every question alike, so what is asked about these commands is only what they reach and leave behind.
  const policy = join(folder, "policy.toml");
  const commands = [connectTo(port, "allowed"), commitAs("kept")];
  const rules = commands.map(
    (command) => `[[rule]]\ndecision = "allow"\ncommand = ${JSON.stringify(command)}\n`,
  );
  await writeFile(policy, rules.join("\n"));
  const flint = `${process.execPath} ${FLINT} acp --policy ${policy} ${options.join(" ")}`;
  const run = async (answer: string) => {
    const args = [agentProgram("acpx") ?? "acpx", "--agent", flint, "--cwd", cwd, answer, "exec", "go"];
    const node = agentProgram("node24") ?? process.execPath;
    // Expected: acpx fails if everything was denied.
    const { stdout } = await promisify(execFile)(node, args, { cwd, env }).catch((error) => error);
    return String(stdout);
  };
  return { run, folder, cwd };
}
