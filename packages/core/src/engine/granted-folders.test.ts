import { MemoryStore } from "@flint/host/store";
import type { Action, Decision, SandboxPolicy, ThreadSettings } from "@flint/protocol";
import { BareDriver, FakeSandbox, type TestClient, type TestEngineOptions, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";
import type { ActionDecision, TurnContext, TurnOutcome, WritablePath } from "../ports/index.ts";

const IN_THREAD = { outcome: "allow", scope: "session" } as const;
const ONCE = { outcome: "allow", scope: "once" } as const;
const CHANGE: Action = {
  ...{ kind: "fileChange", itemId: "item", needs: { write: ["/outside"] } },
  changes: [{ path: "/outside/x.txt", kind: "add", diff: "+x\n" }],
};

/** A sandbox that approvals can open, except for one folder. */
class OpenSandbox extends FakeSandbox {
  /** The place that each path leads to, if it is a link. */
  readonly links = new Map<string, string>();

  async resolveWritable(given: string): Promise<WritablePath> {
    const path = this.links.get(given) ?? given;
    return path === "/closed" ? { problem: `${path} belongs to the system` } : { path };
  }
}

/** The runs of an agent that wants to make a change in its own sandbox. */
interface Run {
  readonly turnId: string;
  readonly text: string;
  readonly settings: ThreadSettings;
  decision?: ActionDecision;
}

interface AgentOptions {
  readonly action?: Action;
  readonly outcome?: TurnOutcome;
}

function fixture({ action = CHANGE, outcome }: AgentOptions = {}, more: Partial<TestEngineOptions> = {}) {
  const runs: Run[] = [];
  const run = async (turn: TurnContext): Promise<TurnOutcome> => {
    const { settings } = turn;
    const text = turn.input.map((piece) => ("text" in piece ? piece.text : "")).join("\n");
    const roots =
      settings.sandboxPolicy.type === "workspaceWrite" ? settings.sandboxPolicy.writableRoots : [];
    const isOutside = action.needs?.write?.some((path) => roots?.includes(path) !== true) === true;
    const { needs: _, ...inside } = action;
    const entry: Run = { turnId: turn.turnId, text, settings };
    runs.push(entry);
    entry.decision = isOutside
      ? await turn.approve(action, { changesInSandbox: true })
      : await turn.approve(inside);
    return outcome ?? { status: "completed" };
  };
  const engine = testEngine({
    ...{ cwd: "/repo", sandbox: new OpenSandbox(), driver: new BareDriver({ run }), ...more },
  });
  return { engine, client: engine.connect(), runs };
}

/** Answers the next approval and returns it. */
async function answer(client: TestClient, threadId: string, place: number, decision: Decision) {
  await client.waitFor("approval/requested", () => client.eventsOf("approval/requested").length > place);
  const approval = client.eventsOf("approval/requested")[place]?.data.approval;
  await client.call("approval/respond", { threadId, approvalId: approval?.id ?? "", decision });
  return approval;
}

function rootsIn(client: TestClient): readonly (readonly string[] | undefined)[] {
  return client.eventsOf("thread/settings/updated").map(({ data }) => {
    const { sandboxPolicy } = data.settings;
    return sandboxPolicy.type === "workspaceWrite" ? sandboxPolicy.writableRoots : undefined;
  });
}

test("a change that is allowed in the thread is made in the same turn, after the folder became a root", async () => {
  const { client, runs } = fixture();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  const approval = await answer(client, threadId, 0, IN_THREAD);
  expect(approval?.action.reason).toBe(
    "The sandbox does not let the agent write /outside. If you allow it in this thread, the folder becomes writable and the agent makes the change after that; if you allow it once, the change fails.",
  );
  const turn = await client.turnEnd(turnId);
  expect(rootsIn(client)).toEqual([["/outside"]]);
  expect(runs.map(({ decision }) => decision?.outcome)).toEqual(["deny", "allow"]);
  expect(runs[0]?.decision?.message).toContain("The user has allowed this thread to write /outside");
  expect(runs[1]?.text).toContain("Make the change of /outside/x.txt now that was declined before.");
  expect(runs[1]?.settings.sandboxPolicy).toMatchObject({ writableRoots: ["/outside"] });
  expect(client.eventsOf("approval/requested")).toHaveLength(1);
  expect(new Set(runs.map((run) => run.turnId)).size).toBe(2);
  expect(turn).toMatchObject({ status: "completed", declined: [{ itemId: "item", by: "client" }] });
});

test("the folder alone can be allowed, in the words that were shown, and the change is not asked about again", async () => {
  const { client, runs } = fixture();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await client.waitFor("approval/requested");
  const offered = client
    .eventsOf("approval/requested")[0]
    ?.data.approval.suggestions?.find(({ tool }) => tool === "write");
  expect(offered).toMatchObject({ words: "write /outside, from any command", scopes: ["session"] });
  await answer(client, threadId, 0, { ...IN_THREAD, rule: offered?.id ?? "" });
  await client.turnEnd(turnId);
  expect(runs.map(({ decision }) => decision?.outcome)).toEqual(["deny", "allow"]);
  const [resolved] = client.eventsOf("approval/resolved");
  expect(resolved?.data.resolution).toMatchObject({ decision: { rule: offered?.id }, by: "client" });
  expect(client.eventsOf("approval/requested")).toHaveLength(1);
});

test("a change that is allowed once opens no folder", async () => {
  const { client, runs } = fixture();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, ONCE);
  await client.turnEnd(turnId);
  expect([rootsIn(client), runs.map(({ decision }) => decision?.outcome)]).toEqual([[], ["allow"]]);
});

test.each<[string, AgentOptions, Partial<TestEngineOptions>, string]>([
  [
    "a folder that belongs to the system",
    { action: { ...CHANGE, needs: { write: ["/closed"] } } },
    {},
    "/closed belongs to the system",
  ],
  [
    "a thread that only reads",
    {},
    { sandboxPolicy: { type: "readOnly", whenApproved: "workspaceWrite" } },
    "this thread is read-only",
  ],
  [
    "folders that the administrator locked",
    {},
    { locks: { source: "/etc/flint.toml", sandboxPolicy: { type: "workspaceWrite" } } },
    "sandbox: writing to /outside is not allowed.",
  ],
])("%s is not offered, and no answer opens it", async (_, agent, engine, reason) => {
  const { client, runs } = fixture(agent, engine);
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  const approval = await answer(client, threadId, 0, IN_THREAD);
  expect(approval?.action.reason).toContain(`and no answer opens it: ${reason}`);
  expect(approval?.action.needs).toBeUndefined();
  expect(approval?.suggestions?.filter(({ tool }) => tool === "write") ?? []).toEqual([]);
  await client.turnEnd(turnId);
  expect([rootsIn(client), runs.length]).toEqual([[], 1]);
});

test("a folder that became a link while the user was asked is not opened", async () => {
  const sandbox = new OpenSandbox();
  const { client, runs } = fixture({}, { sandbox });
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await client.waitFor("approval/requested");
  sandbox.links.set("/outside", "/elsewhere");
  await answer(client, threadId, 0, IN_THREAD);
  await client.turnEnd(turnId);
  expect(runs[0]?.decision).toMatchObject({
    outcome: "deny",
    message: "It was not made: /outside is another folder than the one that was shown.",
  });
  expect([rootsIn(client), runs.length]).toEqual([[], 1]);
});

test("without approvals it is declined with the option that allows it", async () => {
  const { client, runs } = fixture({}, { approvalPolicy: "never" });
  await client.runTurn(await client.startThread(), "go");
  expect(runs[0]?.decision).toMatchObject({
    outcome: "deny",
    message: expect.stringContaining("Allow it with --add-dir /outside."),
  });
  expect([rootsIn(client), runs.length]).toEqual([[], 1]);
});

test("an answer after the turn opens the folder too, and the next prompt says so", async () => {
  const { client, engine, runs } = fixture();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await client.waitFor("approval/requested");
  await engine.clock.advance(600_000);
  await client.turnEnd(turnId);
  await answer(client, threadId, 0, IN_THREAD);
  expect(rootsIn(client)).toEqual([["/outside"]]);
  await client.runTurn(threadId, "go on");
  expect(runs[1]?.text).toContain("change /outside/x.txt exactly as shown");
  expect(runs.map(({ decision }) => decision?.outcome)).toEqual(["deny", "allow"]);
  expect(client.eventsOf("approval/requested")).toHaveLength(1);
});

test("a turn that fails before the change can be made leaves it to the next prompt", async () => {
  const { client, runs } = fixture({ outcome: { status: "failed", error: { message: "broken" } } });
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, IN_THREAD);
  await client.turnEnd(turnId);
  expect(runs).toHaveLength(1);
  await client.runTurn(threadId, "go on");
  expect(runs[1]?.text).toContain("Make the change of /outside/x.txt now that was declined before.");
  expect(runs[1]?.settings.sandboxPolicy).toMatchObject({ writableRoots: ["/outside"] });
});

test("a folder that became writable stays so after a restart of the server", async () => {
  const store = new MemoryStore();
  const { client, engine } = fixture({}, { store });
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, IN_THREAD);
  await client.turnEnd(turnId);
  await engine.close();
  const after = fixture({}, { store });
  await after.client.runTurn(threadId, "go on");
  expect(after.runs[0]?.settings.sandboxPolicy).toMatchObject({ writableRoots: ["/outside"] });
});

test("a file that is allowed in the thread and a change that is allowed once open no folder together", async () => {
  const sandboxPolicy: SandboxPolicy = { type: "workspaceWrite", writableRoots: ["/outside"] };
  const { client, engine, runs } = fixture({}, { sandboxPolicy });
  const threadId = await client.startThread();
  const first = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, IN_THREAD);
  await client.turnEnd(first);
  await client.call("thread/settings/update", { threadId, sandbox: { type: "workspaceWrite" } });
  const second = await client.startTurn(threadId, "go");
  await client.waitFor("approval/requested", () => client.eventsOf("approval/requested").length > 1);
  await engine.clock.advance(600_000);
  await client.turnEnd(second);
  await answer(client, threadId, 1, ONCE);
  await client.runTurn(threadId, "go on");
  expect(runs.map(({ decision }) => decision?.outcome)).toEqual(["allow", "deny", "allow"]);
  expect(rootsIn(client)).toEqual([undefined]);
});
