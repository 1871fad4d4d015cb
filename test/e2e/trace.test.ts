import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentFolder, agentProgram, leavesNoProcess, needs, type RealAgent } from "@flint/testkit";
import { expect } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import type { Ran } from "./flint.ts";
import { FLINT } from "./server.ts";

/** Assembled at run time, so that secret scanners find no key in this repository. */
const KEY = `sk-ant-${"aB3dE6gH9jK2mN5pQ8sT1vX4zC7".slice(0, 20)}`;
const TEST_MS = 60_000;

/** The messages on the wire of each agent in a turn with one command. */
const WIRES = {
  claude: { sent: ["user", "control_response"], received: ["system", "control_request", "result"] },
  codex: {
    sent: ["initialize", "turn/start"],
    received: ["item/commandExecution/requestApproval", "turn/completed"],
  },
} as const satisfies Partial<Record<RealAgent, unknown>>;

type Agent = keyof typeof WIRES;

for (const agent of ["claude", "codex"] as const) {
  needs(agent)(
    `records the traffic of the real ${agent} without keys, and can show and replay it [S4-50]`,
    () => recorded(agent),
    TEST_MS,
  );
}

async function recorded(agent: Agent): Promise<void> {
  leavesNoProcess();
  const fixture = await newFixture(agent);
  const file = join(fixture.folder, "trace.jsonl");
  const flags = ["--agent", agent, "--offline", "--approval", "never", "--trace", file];
  const ran = await fixture.flint(["exec", ...flags, `run \`echo ${KEY} > made\``]);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect((await readFile(join(fixture.workspace, "made"), "utf8")).trim()).toBe(KEY);

  const trace = await readFile(file, "utf8");
  expect(trace).toContain("echo ");
  expect(trace).not.toContain(KEY);
  expect((await stat(file)).mode & 0o077, "other users").toBe(0);

  const shown = await fixture.flint(["replay", file]);
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).not.toContain(KEY);
  for (const word of WIRES[agent].sent) expect(shown.stdout).toMatch(new RegExp(`→ ${agent}  .*${word}`));
  for (const word of WIRES[agent].received) expect(shown.stdout).toMatch(new RegExp(`← ${agent}  .*${word}`));

  const played = await fixture.flint(["replay", "--fixture", file]);
  const frames = played.stdout.trimEnd().split("\n");
  expect(frames.length).toBeGreaterThan(3);
  for (const frame of frames) expect(JSON.parse(frame)).toBeTypeOf("object");
}

/** A folder outside of the system's temporary one, with a workspace and a home of its own. */
async function newFixture(agent: Agent) {
  const { path: folder } = await agentFolder();
  const [workspace, home, state] = [join(folder, "workspace"), join(folder, "home"), join(folder, "state")];
  await Promise.all([workspace, home, state].map((path) => mkdir(path)));
  const command = JSON.stringify([agentProgram(agent) ?? agent]);
  await writeFile(join(state, "config.toml"), `[agents.${agent}]\ncommand = ${command}\n`);
  const env = { ...process.env, ...plainEnvironment(state), HOME: home, ANOTHER_KEY: KEY };
  const flint = (args: readonly string[]) =>
    new Promise<Ran>((resolve) => {
      const child = execFile(
        process.execPath,
        [FLINT, ...args],
        { cwd: workspace, env },
        (error, stdout, stderr) =>
          resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
      child.stdin?.end();
    });
  expect(existsSync(FLINT)).toBe(true);
  return { folder, workspace, flint };
}
