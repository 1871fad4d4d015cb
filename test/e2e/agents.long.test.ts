import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  agentFolder,
  agentProgram,
  descendantsOf,
  leavesNoProcess,
  needs,
  type RealAgent,
  type RunningProcess,
  WireClient,
  waitForExit,
} from "@flint/testkit";
import { expect, vi } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { asMessage, completedItems, FLINT, initialize, paramsOf, runTurn, startThread } from "./server.ts";

/** Time after the end of its server within which everything must be gone. */
const WITHIN_MS = 2_000;
/** A real agent takes its time, most of all to start on a busy machine. */
const STARTS_WITHIN_MS = 30_000;
const TEST_MS = 90_000;
const INIT = 1;

/** A command that can be distinguished from those of other tests anywhere in the process tree. */
const SLEEP = `sleep 3600.${process.pid}`;
/** A command with children of its own, one of which tries to get away into a session of its own. */
const COMMAND = `(setsid ${SLEEP} &); ${SLEEP} & touch begun; wait`;

const AGENTS = ["claude", "codex"] as const satisfies readonly RealAgent[];
type Agent = (typeof AGENTS)[number];

/** Patterns that identify the process of an agent inside its wrappers: its own arguments and their prefix. */
const PROCESSES: Readonly<Record<Agent, RegExp>> = {
  claude: /^\S*claude\S* .*stream-json/,
  codex: /^\S*codex\S* .*app-server/,
};

/** Assembled at run time, so that secret scanners find no key in this repository. */
const KEY = `sk-ant-${"aB3dE6gH9jK2mN5pQ8sT1vX4zC7".slice(0, 20)}`;

const ENDS = [
  ["SIGKILL", "workspaceWrite"],
  ["SIGKILL", "dangerFullAccess"],
  ["SIGTERM", "workspaceWrite"],
  ["end of input", "workspaceWrite"],
] as const;

for (const agent of AGENTS) {
  for (const [way, sandbox] of ENDS) {
    needs(agent)(
      `nothing of ${agent} in the middle of a command (${sandbox}) outlives its server after ${way} [P23]`,
      () => outlive(agent, way, sandbox),
      TEST_MS,
    );
  }
  needs(agent)(
    `${agent} killed in the middle of a turn fails it once with the end of its stderr, and the next turn continues [P24]`,
    () => killed(agent),
    TEST_MS,
  );
}

async function outlive(agent: Agent, way: (typeof ENDS)[number][0], sandbox: string): Promise<void> {
  const { wire, workspace } = await startServer(agent);
  const threadId = await startThread(wire, { sandbox, approvalPolicy: "never" });
  await beginCommand(wire, threadId, COMMAND);
  await vi.waitUntil(() => existsSync(join(workspace, "begun")), { timeout: STARTS_WITHIN_MS });
  const running = [...descendantsOf(wire.pid ?? 0), ...sleepers()];
  expect(processesOf(agent, running).length, "processes of the agent").toBeGreaterThan(0);
  if (way === "end of input") wire.end();
  else wire.kill(way);
  await wire.exited;
  await waitForExit(running, WITHIN_MS);
}

async function killed(agent: Agent): Promise<void> {
  const { wire } = await startServer(agent);
  const threadId = await startThread(wire, { sandbox: "workspaceWrite", approvalPolicy: "never" });
  const from = wire.mark;
  await beginCommand(wire, threadId, `echo the word is lantern; ${SLEEP}`);
  const running = [...descendantsOf(wire.pid ?? 0), ...sleepers()];
  for (const { pid } of processesOf(agent, running)) process.kill(pid, "SIGKILL");
  await wire.waitFor((message) => message.method === "turn/completed", { after: from });
  const turn = asMessage(paramsOf(wire.messages.slice(from), "turn/completed").turn);
  expect(turn).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("the lamp oil is low"), errorInfo: "AgentFailed" },
  });
  expect(JSON.stringify(wire.messages)).not.toContain(KEY);
  await waitForExit(running, WITHIN_MS);
  const next = await runTurn(wire, threadId, "what did I ask you?");
  expect(asMessage(paramsOf(next, "turn/completed").turn)).toMatchObject({ status: "completed" });
  expect(JSON.stringify(completedItems(next, "agentMessage"))).toContain("lantern");
  const ends = wire.messages.slice(from).filter(({ method }) => method === "turn/completed");
  expect(ends.length, "ends of the two turns").toBe(2);
  wire.end();
  await wire.exited;
}

/** A server whose agent is the real program on the offline model, through a wrapper that prints a line first. */
async function startServer(agent: Agent): Promise<{ wire: WireClient; workspace: string }> {
  const { path: folder } = await agentFolder();
  // Looks before the folder goes, which an agent that is just ending may still write to.
  leavesNoProcess(WITHIN_MS);
  const [workspace, home, state] = [join(folder, "workspace"), join(folder, "home"), join(folder, "state")];
  await Promise.all([workspace, home, state].map((path) => mkdir(path)));
  const wrapper = join(workspace, agent);
  const words = `echo 'the lamp oil is low, the key is ${KEY}' >&2`;
  await writeFile(wrapper, `#!/bin/sh\n${words}\nexec "$@"\n`);
  await chmod(wrapper, 0o755);
  const command = JSON.stringify([wrapper, agentProgram(agent) ?? agent]);
  await writeFile(join(state, "config.toml"), `[agents.${agent}]\ncommand = ${command}\n`);
  const flags = ["serve", "--stdio", "--agent", agent, "--offline", "--allow-unconfined"];
  const wire = WireClient.spawn([process.execPath, FLINT, ...flags], {
    cwd: workspace,
    // What the shells of the user of this machine begin with would be run by the agents too.
    env: { ...plainEnvironment(state), HOME: home },
  });
  await initialize(wire);
  return { wire, workspace };
}

/** Has the agent run a command, and resolves when it sleeps. */
async function beginCommand(wire: WireClient, threadId: string, command: string): Promise<void> {
  const from = wire.mark;
  const input = [{ type: "text", text: `run \`${command}\`` }];
  await wire.request("turn/start", { threadId, input });
  const isRunning = () => {
    const ended = wire.messages.slice(from).find(({ method }) => method === "turn/completed");
    if (ended !== undefined) throw new Error(`The turn has ended: ${JSON.stringify(ended.params)}`);
    return sleepers().length > 0;
  };
  await vi.waitUntil(isRunning, { timeout: STARTS_WITHIN_MS });
}

/** Includes processes that were reparented. */
function sleepers(): RunningProcess[] {
  return descendantsOf(INIT).filter(({ command }) => command === SLEEP);
}

function processesOf(agent: Agent, running: readonly RunningProcess[]): RunningProcess[] {
  return running.filter(({ command }) => PROCESSES[agent].test(command));
}
