import { composeEngine } from "@flint/server";
import { Gate, type Script, scriptedDriver, settled, TestClock, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { fields } from "../../packages/frontends/src/testing/client-scripts.ts";
import { FRONTEND_NAMES, type FrontendName } from "../../packages/server/src/frontends.ts";
import { OpenServer } from "../../packages/server/src/serve/testing/open-server.ts";
import { startSharedServer, TestUser } from "./clients/many-clients.ts";

const PAIRS = FRONTEND_NAMES.flatMap((first) => FRONTEND_NAMES.map((second) => ({ first, second })));

/** A turn with half a message and a started command, which waits for approval. */
const HALF_WAY: Script = [
  { emit: { type: "item/started", item: { type: "agentMessage", id: "message", text: "" } } },
  { emit: { type: "item/agentMessage/delta", itemId: "message", delta: "half a sentence" } },
  { command: "make everything", startsFirst: true, output: ["made\n"] },
  {
    emit: {
      type: "item/completed",
      item: { type: "agentMessage", id: "message", text: "half a sentence, now whole" },
    },
  },
];

/** The turn of a thread as the core has it. */
async function lastTurn(watcher: TestUser, threadId: string) {
  const answer = await watcher.ask(["thread/attach", { threadId }]);
  return fields(Array.isArray(answer.turns) ? answer.turns.at(-1) : undefined);
}

/** The status of its command. */
function commandStatus({ items }: { items?: unknown }): unknown {
  const found = Array.isArray(items) && items.find((item) => fields(item).type === "commandExecution");
  return fields(found).status;
}

async function turnEnd(watcher: TestUser, after = 0): Promise<unknown> {
  const { params } = await watcher.wire.waitForMethod("turn/completed", { after });
  return fields(fields(params).turn).status;
}

describe("a thread that was started on one front end", () => {
  test.each(PAIRS)(
    "$first: can be attached on the $second front end while it runs, and afterwards",
    async (frontends) => {
      const gate = new Gate();
      const script: Script = [{ text: "the first part" }, { wait: gate }, { text: "the second part" }];
      const shared = await startSharedServer({ scripts: [script] });
      const starter = await shared.user(frontends.first);
      const threadId = await starter.startThread();
      await starter.prompt(threadId, "what was asked");
      await gate.reached;
      const joiner = await shared.user(frontends.second);
      await joiner.attach(threadId);
      await Promise.all(["what was asked", "the first part"].map((text) => joiner.saw(text)));
      expect(joiner.indexOf("the second part")).toBe(-1);
      gate.open();
      await Promise.all([starter, joiner].map((user) => user.saw("the second part")));
      const late = await shared.user(frontends.second);
      await late.attach(threadId);
      const whole = ["what was asked", "the first part", "the second part"];
      await Promise.all(whole.map((text) => late.saw(text)));
    },
  );
});

describe("a client that attaches while a request is open", () => {
  test.each(FRONTEND_NAMES)("%s: is sent the items in progress before it is asked", async (frontend) => {
    const shared = await startSharedServer({ scripts: [HALF_WAY] });
    const starter = await shared.user("flint");
    const threadId = await starter.startThread();
    await starter.prompt(threadId, "go");
    await starter.question();
    const late = await shared.user(frontend);
    await late.attach(threadId);
    const question = await late.question();
    const asked = late.wire.messages.indexOf(question);
    for (const text of ["half a sentence", "make everything"]) {
      expect(late.indexOf(text)).toBeGreaterThan(-1);
      expect(late.indexOf(text)).toBeLessThan(asked);
    }
    await late.answer(question, true);
    expect(await turnEnd(starter)).toBe("completed");
    await late.saw("now whole");
  });
});

describe("a request to two clients", () => {
  const question: Script = [{ command: "make", output: ["made\n"] }];

  /** A thread with two subscribers and one that only watches. */
  async function sharedQuestion({ first, second }: { first: FrontendName; second: FrontendName }) {
    const shared = await startSharedServer({ scripts: [question, question] });
    const watcher = await shared.user("flint");
    const threadId = await watcher.startThread();
    const users = [await shared.user(first), await shared.user(second)] as const;
    await watcher.prompt(threadId, "go");
    await watcher.question();
    for (const user of users) await user.attach(threadId);
    return { shared, watcher, threadId, users };
  }

  test.each(PAIRS)(
    "is answered on the $first front end, and the $second front end is notified",
    async (frontends) => {
      const { watcher, threadId, users } = await sharedQuestion(frontends);
      const [first, second] = users;
      const [mine, theirs] = [await first.question(), await second.question()];
      await first.answer(mine, true);
      await second.withdrawn(theirs);
      // Too late: refused, or ignored, but never taken.
      await second.answer(theirs, false).catch(() => undefined);
      expect(await turnEnd(watcher)).toBe("completed");
      expect(commandStatus(await lastTurn(watcher, threadId))).toBe("completed");
    },
  );

  test.each(PAIRS)(
    "has one answer if the $first and the $second front end answer at the same time",
    async (frontends) => {
      const { watcher, threadId, users } = await sharedQuestion(frontends);
      const [first, second] = users;
      const [mine, theirs] = [await first.question(), await second.question()];
      await Promise.allSettled([first.answer(mine, true), second.answer(theirs, false)]);
      expect(await turnEnd(watcher)).toBe("completed");
      const resolved = watcher.wire.messages.filter(({ method }) => method === "approval/resolved");
      expect(resolved).toHaveLength(1);
      const { decision } = fields(fields(resolved[0]?.params).resolution);
      const expected = fields(decision).outcome === "allow" ? "completed" : "declined";
      expect(commandStatus(await lastTurn(watcher, threadId))).toBe(expected);
    },
  );
});

describe("a turn", () => {
  test.each(FRONTEND_NAMES)(
    "%s: continues when the client that started it disconnects [P26]",
    async (frontend) => {
      const gate = new Gate();
      const shared = await startSharedServer({
        scripts: [[{ text: "begun" }, { wait: gate }, { text: "ended" }]],
      });
      const starter = await shared.user(frontend);
      const threadId = await starter.startThread();
      await starter.prompt(threadId, "go");
      await gate.reached;
      await starter.vanish();
      while (shared.server.listening.size > 0) await settled();
      gate.open();
      const later = await shared.user(frontend);
      await later.attach(threadId);
      await later.saw("ended");
    },
  );
});

test("a thread that another process has open can be read on the harness front end, but not subscribed to", async () => {
  const { path: root } = await temporaryFolder();
  const gate = new Gate();
  const servers = [0, 1].map(async () => {
    const { path: folder } = await temporaryFolder();
    const driver = scriptedDriver({ scripts: [[{ text: "said there" }, { wait: gate }]] });
    const engine = composeEngine({ root, cwd: folder, drivers: [driver], durability: "relaxed" });
    onTestFinished(() => engine.close());
    const kit = { engine, folder, clock: new TestClock(), atEnd: onTestFinished };
    return { folder, server: await OpenServer.start(kit) };
  });
  const [here, there] = await Promise.all(servers);
  if (here === undefined || there === undefined) throw new Error("Two servers were started.");
  const owner = await TestUser.at("flint", there.server, there.folder);
  const threadId = await owner.startThread();
  await owner.prompt(threadId, "go");
  await gate.reached;
  const reader = await TestUser.at("harness", here.server, here.folder);
  await reader.attach(threadId);
  await reader.saw("said there");
  const taken = reader.prompt(threadId, "me too");
  await expect(taken).rejects.toThrow("refused");
  gate.open();
  await owner.wire.waitForMethod("turn/completed");
});
