import { isKnownItem } from "@flint/protocol";
import { FakeSandbox, type Script, ScriptedDriver, type TestClient, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";
import type { Denial, EndedCommand } from "../ports/index.ts";

const EVIDENCE = "The sandbox does not let commands write /outside/x.";
const WRITE: Denial = { needs: { write: ["/outside"] }, evidence: EVIDENCE };
const STOPPED = { command: "touch /outside/x", output: ["touch: Read-only file system\n"], exitCode: 1 };
const ALLOW = { outcome: "allow", scope: "once" } as const;
const DECLINE = { outcome: "deny", scope: "once" } as const;

/** A driver whose commands run in the agent, and which can run one of them with more than its sandbox allows. */
class GrantingDriver extends ScriptedDriver {
  override async open(spec: Parameters<ScriptedDriver["open"]>[0]) {
    const session = await super.open(spec);
    return Object.assign(session, { canGrant: () => true });
  }
}

function fixture(scripts: readonly Script[], denials: readonly Denial[] = [WRITE], more: object = {}) {
  const sandbox = new FakeSandbox();
  const looked: EndedCommand[] = [];
  sandbox.denials = async (command) => {
    looked.push(command);
    return denials;
  };
  const engine = testEngine({ cwd: "/repo", sandbox, driver: new GrantingDriver({ scripts }), ...more });
  return { engine, client: engine.connect(), looked };
}

async function answer(
  client: TestClient,
  threadId: string,
  place: number,
  decision: typeof ALLOW | typeof DECLINE,
) {
  await client.waitFor("approval/requested", () => client.eventsOf("approval/requested").length > place);
  const approval = client.eventsOf("approval/requested")[place]?.data.approval;
  await client.call("approval/respond", { threadId, approvalId: approval?.id ?? "", decision });
  return approval?.action;
}

function commandsOf(client: TestClient) {
  return client
    .eventsOf("item/completed")
    .flatMap(({ data }) =>
      isKnownItem(data.item) && data.item.type === "commandExecution" ? [data.item] : [],
    );
}

test("a command that the sandbox stopped says so on its item, and the agent may run it again once", async () => {
  const { engine, client, looked } = fixture([
    [STOPPED, { text: "It failed." }],
    [{ command: "touch /outside/x" }, { command: "touch /outside/x" }],
  ]);
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, ALLOW);
  const offer = await answer(client, threadId, 1, ALLOW);
  expect(offer).toMatchObject({
    ...{ command: "touch /outside/x", needs: { write: ["/outside"] } },
    reason: `${EVIDENCE} Run it again and let it write /outside? It already ran for less than a second and may have done part of its work.`,
    after: { evidence: [EVIDENCE] },
  });
  // The first run of the command again is covered; the second one is asked about.
  await answer(client, threadId, 2, DECLINE);
  await client.turnEnd(turnId);
  expect(commandsOf(client).map(({ denials }) => denials)).toEqual([[EVIDENCE], undefined, undefined]);
  expect(looked).toMatchObject([{ exitCode: 1, cwd: "/repo", workspace: "/repo" }]);
  const turns = engine.driver.sessions.at(-1)?.turns ?? [];
  expect(JSON.stringify(turns[1]?.input)).toContain(
    "The user has now allowed this command to write /outside. Run exactly the same command again",
  );
  expect(turns[1]?.decisions[0]).toMatchObject({ outcome: "allow", granted: { write: ["/outside"] } });
  expect(client.eventsOf("turn/completed")).toHaveLength(1);
});

test("what was offered once and declined is not offered again in the thread", async () => {
  const { engine, client } = fixture([[STOPPED], [STOPPED]]);
  const threadId = await client.startThread();
  const first = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, ALLOW);
  await answer(client, threadId, 1, DECLINE);
  await client.turnEnd(first);
  const second = await client.startTurn(threadId, "again");
  await answer(client, threadId, 2, ALLOW);
  await client.turnEnd(second);
  expect(client.eventsOf("approval/requested")).toHaveLength(3);
  expect(JSON.stringify(engine.driver.sessions.at(-1)?.turns[1]?.input)).toContain(
    "It is not allowed to write /outside.",
  );
});

test("what nothing but leaving the sandbox helps is said and not offered", async () => {
  const { client, engine } = fixture(
    [[STOPPED, { text: "Oh." }], [{ text: "Fine." }]],
    [{ evidence: EVIDENCE }],
  );
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, ALLOW);
  await client.turnEnd(turnId);
  expect(client.eventsOf("approval/requested")).toHaveLength(1);
  expect(commandsOf(client)[0]?.denials).toEqual([EVIDENCE]);
  await client.runTurn(threadId, "go on");
  expect(JSON.stringify(engine.driver.sessions.at(-1)?.turns.at(-1)?.input)).toContain(EVIDENCE);
});

test("a command that succeeded, one without a sandbox, and those of an agent that says it itself are not looked at", async () => {
  const succeeded = fixture([[{ command: "ls", exitCode: 0 }]]);
  await succeeded.client.runTurn(await succeeded.client.startThread(), "go");
  const free = fixture([[STOPPED]], [WRITE], {
    ...{ approvalPolicy: "never", sandboxPolicy: { type: "dangerFullAccess" }, allowUnconfined: true },
  });
  await free.client.runTurn(await free.client.startThread(), "go");
  expect([succeeded.looked, free.looked]).toEqual([[], []]);
});

test("a command that succeeded without something it could not write is looked at", async () => {
  const output = ["error: unable to unlink old '.vscode/settings.json': Read-only file system\n"];
  const { client, looked } = fixture(
    [[{ command: "git switch x", output, exitCode: 0 }]],
    [{ evidence: EVIDENCE }],
  );
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await answer(client, threadId, 0, ALLOW);
  await client.turnEnd(turnId);
  expect(looked).toMatchObject([{ exitCode: 0 }]);
  expect(commandsOf(client)[0]?.denials).toEqual([EVIDENCE]);
});

test("a look that does not end holds nothing up", async () => {
  const sandbox = new FakeSandbox();
  sandbox.denials = () => new Promise(() => undefined);
  const driver = new GrantingDriver({ scripts: [[{ ...STOPPED, command: "cat x" }, { text: "Next." }]] });
  const engine = testEngine({ cwd: "/repo", sandbox, driver });
  const client = engine.connect();
  const turnId = await client.startTurn(await client.startThread(), "go");
  await client.waitFor("item/started", ({ data }) => data.item.type === "commandExecution");
  await engine.clock.advance(2_000);
  expect((await client.turnEnd(turnId)).status).toBe("completed");
});

test("a turn that creates a file which the sandbox cannot protect ends with a warning", async () => {
  const sandbox = new FakeSandbox();
  let files = ["/repo/.yarnrc"];
  sandbox.unprotectedFiles = async () => files;
  const driver = new ScriptedDriver({ scripts: [[{ command: "make" }], [{ text: "Two." }]] });
  const engine = testEngine({ cwd: "/repo", sandbox, driver });
  const client = engine.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await client.waitFor("approval/requested");
  files = ["/repo/.yarnrc", "/repo/opencode.json"];
  await answer(client, threadId, 0, ALLOW);
  await client.turnEnd(turnId);
  await client.runTurn(threadId, "again");
  expect(client.eventsOf("warning").map(({ data }) => data.message)).toEqual([
    expect.stringContaining("This turn created /repo/opencode.json."),
  ]);
});
