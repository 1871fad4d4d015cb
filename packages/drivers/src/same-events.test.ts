import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Driver, DriverSession } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import type { Action, ThreadSettings } from "@flint/protocol";
import { agentFolder, agentProgram, leavesNoProcess, needs, RecordingTurn } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { ClaudeDriver } from "./claude/driver.ts";
import { CodexDriver } from "./codex/driver.ts";
import { SHORT_LIVED } from "./codex/testing/codex-fixture.ts";
import type { AgentOptions } from "./shared/agent.ts";
import { offlineModel } from "./testing/offline-model.ts";
import { sessionSpec, testSettings } from "./testing/session-spec.ts";

const AGENTS: Readonly<Record<"claude" | "codex", (options: AgentOptions) => Driver>> = {
  claude: (options) => new ClaudeDriver(options),
  codex: (options) => new CodexDriver(options, SHORT_LIVED),
};

/** The reports of both agents in their own protocol, as Flint's events and actions. */
const EXPECTED = {
  beginning: ["session"],
  turn: { status: "completed" },
  streaming: ["item/started", "item/agentMessage/delta", "item/completed"],
  tool: ["item/started", "item/completed"],
  command: { kind: "command", command: "touch made" },
  files: { kind: "fileChange", changes: [["notes.txt", "modify"]] },
  resuming: { sessions: 1, knowsHello: true },
};

for (const agent of ["claude", "codex"] as const) {
  needs(agent)(
    `the real ${agent} produces Flint's events for the same work [S4-47]`,
    () => producesTheSameEvents(agent),
    90_000,
  );
}

async function producesTheSameEvents(agent: "claude" | "codex"): Promise<void> {
  const { open, settings } = await setUp(agent);
  const first = await open();
  const hello = await run(first, settings, "hello");
  const command = await run(first, settings, "run `touch made`");
  const change = await run(first, settings, "replace two with three in notes.txt");
  await first.close();
  const [begun] = hello.events.flatMap((event) => (event.type === "session" ? [event.nativeId] : []));
  const again = await run(await open(begun), settings, "what did I ask you?");
  const events = [...hello.events, ...again.events];
  const sessions = new Set(events.flatMap((event) => (event.type === "session" ? [event.nativeId] : [])))
    .size;
  expect({
    beginning: typesOf(hello, (type) => type === "session"),
    turn: hello.outcome,
    streaming: typesOf(hello, (type) => type.startsWith("item/"), "agentMessage"),
    tool: typesOf(
      command,
      (type) => type === "item/started" || type === "item/completed",
      "commandExecution",
    ),
    command: shownAction(command.actions[0]),
    files: shownAction(change.actions.find(({ kind }) => kind === "fileChange")),
    resuming: { sessions, knowsHello: JSON.stringify(again.completedItems).includes("hello") },
  }).toEqual(EXPECTED);
}

type Ran = RecordingTurn & { readonly outcome: unknown };

async function run(session: DriverSession, settings: ThreadSettings, text: string): Promise<Ran> {
  const turn = new RecordingTurn({ text, settings });
  const outcome = await session.run(turn).finally(() => turn.end());
  return Object.assign(turn, { outcome });
}

/** The types of the events, each once, of one kind of item where one is named. */
function typesOf(turn: RecordingTurn, holds: (type: string) => boolean, itemType?: string): string[] {
  const ids = new Set(turn.completedItems.filter(({ type }) => type === itemType).map(({ id }) => id));
  const own = turn.events.filter((event) => {
    const item: unknown = Reflect.get(event, "item");
    const id: unknown = Reflect.get(Object(item), "id") ?? Reflect.get(event, "itemId");
    return holds(event.type) && (itemType === undefined || ids.has(String(id)));
  });
  return [...new Set(own.map(({ type }) => type))];
}

function shownAction(action: Action | undefined): unknown {
  if (action?.kind === "command") return { kind: action.kind, command: action.command };
  if (action?.kind !== "fileChange") return action;
  return { kind: action.kind, changes: action.changes.map(({ path, kind }) => [basename(path), kind]) };
}

async function setUp(agent: "claude" | "codex") {
  leavesNoProcess();
  const model = await offlineModel(onTestFinished);
  const { path: folder } = await agentFolder();
  const [cwd, stateFolder] = [join(folder, "workspace"), join(folder, "state")];
  await Promise.all([cwd, stateFolder].map((path) => mkdir(path)));
  await writeFile(join(cwd, "notes.txt"), "one\ntwo\nlast\n");
  // For a user without a login shell, Codex takes the first shell on PATH; only one of the system is not shown.
  const PATH = `/usr/bin:/bin:${process.env.PATH}`;
  const sandbox = new CommandSandbox({ environment: { ...process.env, PATH } });
  const environment = { CLAUDE_CONFIG_DIR: join(stateFolder, "claude") };
  const driver = AGENTS[agent]({
    program: async () => ({ command: [agentProgram(agent) ?? agent], environment }),
    offlineModel: async () => model.url,
    ...{ stateFolder, sandbox, version: "0.0.0" },
  });
  onTestFinished(async () => driver.close?.());
  const settings = testSettings(`${agent}/default`, cwd);
  const open = async (nativeId?: string) => {
    const session = await driver.open(sessionSpec(settings, sandbox, { nativeId }));
    onTestFinished(() => session.close());
    return session;
  };
  return { open, settings };
}
