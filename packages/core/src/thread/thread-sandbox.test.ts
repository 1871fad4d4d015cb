import type { SandboxPolicy } from "@flint/protocol";
import { expect, test } from "vitest";
import type { ClientTerminal, LaunchSpec, Sandbox, TerminalCommand } from "../ports/index.ts";
import { ThreadSandbox } from "./thread-sandbox.ts";

const ENDED = { exitCode: 0, durationMs: 1, ended: "exited" } as const;

function setUp() {
  const here: LaunchSpec[] = [];
  const inTerminal: TerminalCommand[] = [];
  const sandbox: Sandbox = {
    state: async () => ({ available: true, mechanism: "none" }),
    launch: async (spec) => {
      here.push(spec);
      return ENDED;
    },
    start: () => Promise.reject(new Error("no program is started")),
  };
  const terminal: ClientTerminal = {
    run: async (command) => {
      inTerminal.push(command);
      return ENDED;
    },
  };
  const thread = new ThreadSandbox(sandbox, () => ({ id: "t", privateGit: false }), {
    gitVariables: async () => ({ GIT_CONFIG_COUNT: "0" }),
    terminal: () => terminal,
  });
  const launch = (policy: SandboxPolicy, more: Partial<LaunchSpec> = {}) =>
    thread.launch({ command: ["ls"], cwd: "/", workspace: "/", policy, itemId: "i", onOutput() {}, ...more });
  return { here, inTerminal, launch };
}

test.each<[string, SandboxPolicy, Partial<LaunchSpec>]>([
  ["no sandbox at all", { type: "dangerFullAccess" }, {}],
  ["the user's leave to run outside of it", { type: "readOnly" }, { permission: { unconfined: true } }],
])("with %s, a command runs in the client's terminal", async (_what, policy, more) => {
  const { here, inTerminal, launch } = setUp();
  await launch(policy, more);
  expect(here).toEqual([]);
  expect(inTerminal).toMatchObject([{ itemId: "i", environment: { GIT_CONFIG_COUNT: "0" } }]);
});

test.each<[string, SandboxPolicy, Partial<LaunchSpec>]>([
  ["a sandbox", { type: "workspaceWrite", writableRoots: [], networkAccess: true }, {}],
  ["leave to write one folder", { type: "readOnly" }, { permission: { write: ["/x"] } }],
  ["a sandbox around all of Flint", { type: "externalSandbox", networkAccess: "enabled" }, {}],
])("with %s, a command never leaves for the client's terminal", async (_what, policy, more) => {
  const { here, inTerminal, launch } = setUp();
  await launch(policy, more);
  expect([here.length, inTerminal.length]).toEqual([1, 0]);
});

test("what no item shows runs here", async () => {
  const { here, inTerminal, launch } = setUp();
  // Flint's own look at the machine, such as a search for text.
  await launch({ type: "dangerFullAccess" }, { itemId: undefined } as never);
  expect([here.length, inTerminal.length]).toEqual([1, 0]);
});

test("every program of the thread has the thread's variables, and none takes the place of those for git", async () => {
  const environments: LaunchSpec["environment"][] = [];
  const keep = ({ environment }: Pick<LaunchSpec, "environment">) => environments.push(environment);
  const sandbox: Sandbox = {
    state: async () => ({ available: true, mechanism: "none" }),
    launch: async (spec) => {
      keep(spec);
      return ENDED;
    },
    start: async (spec) => {
      keep(spec);
      throw new Error("not started");
    },
  };
  const thread = new ThreadSandbox(sandbox, () => ({ id: "t", privateGit: false }), {
    gitVariables: async () => ({ GIT_CONFIG_COUNT: "0" }),
    variables: () => ({ FLINT_PORT_BASE: "20100", GIT_CONFIG_COUNT: "9" }),
  });
  const program = { command: ["ls"], cwd: "/", workspace: "/", policy: { type: "readOnly" } as const };
  await thread.launch({ ...program, onOutput() {} });
  await expect(thread.start({ ...program, environment: {} })).rejects.toThrow("not started");
  expect(environments).toEqual([
    { FLINT_PORT_BASE: "20100", GIT_CONFIG_COUNT: "0" },
    { FLINT_PORT_BASE: "20100", GIT_CONFIG_COUNT: "0" },
  ]);
});
