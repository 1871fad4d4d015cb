import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import { builtInDrivers } from "@flint/drivers";
import { ClientConnection } from "@flint/frontends";
import { codexFrontend } from "@flint/frontends/codex";
import type { ApprovalPolicy } from "@flint/protocol";
import { streamTransport } from "@flint/rpc/node";
import { composeEngine } from "@flint/server";
import { needs, type Step, temporaryFolder, WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ask,
  asked,
  fields,
  listOf,
  openServer,
  received,
  startThread,
  startTurn,
  turnEnd,
} from "./server-under-test.ts";

/** A client of Flint's own agent, which works with the offline model in a folder. */
async function clientOfFlint(cwd?: string, approvalPolicy: ApprovalPolicy = "unlessTrusted") {
  const { path } = await temporaryFolder();
  const folders = { root: path, cwd: cwd ?? path, drivers: builtInDrivers() };
  const engine = composeEngine({ ...folders, model: "flint/offline", approvalPolicy });
  onTestFinished(() => engine.close());
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  new ClientConnection(codexFrontend(), engine, streamTransport(toServer, toClient));
  const client = WireClient.over(toClient, toServer);
  const clientInfo = { name: "probe", version: "1" };
  await client.request("initialize", { clientInfo, capabilities: { experimentalApi: true } });
  return client;
}

/** The types of the items in each way of reading a thread. */
async function itemsRead(client: WireClient, threadId: string): Promise<string[][]> {
  const typesIn = (items: unknown) => listOf(items).map((item) => String(fields(item).type));
  const inTurns = ({ thread }: { readonly thread?: unknown }) =>
    typesIn(listOf(fields(thread).turns).flatMap((turn) => listOf(fields(turn).items)));
  const listed = await ask(client, "thread/items/list", { threadId });
  return [
    inTurns(await ask(client, "thread/read", { threadId, includeTurns: true })),
    inTurns(await ask(client, "thread/resume", { threadId })),
    typesIn(listOf(listed.data).map((entry) => fields(entry).item)),
  ];
}

const ENTRIES = [{ step: "look", status: "completed" }] as const;
const TASKS = { type: "plan", id: "tasks", text: "1. look", entries: [...ENTRIES] } as const;
const PROPOSAL = { type: "plan", id: "proposal", text: "# First look" } as const;

const CHANGED = ["item/started fileChange", "item/fileChange/requestApproval", "item/completed fileChange"];

function whole(item: typeof TASKS | typeof PROPOSAL): Step[] {
  return [{ emit: { type: "item/started", item } }, { emit: { type: "item/completed", item } }];
}

describe("a Codex client", () => {
  test("is sent a task list as a plan update and never as an item", async () => {
    const server = await openServer({ scripts: [[{ plan: ENTRIES }, ...whole(TASKS), { text: "Done." }]] });
    const client = await server.client();
    const threadId = await startThread(client);
    await turnEnd(client, await startTurn(client, threadId, "go"));
    expect(received(client).filter((entry) => /plan/i.test(entry))).toEqual(["turn/plan/updated"]);
    const items = ["userMessage", "agentMessage"];
    expect(await itemsRead(client, threadId)).toEqual([items, items, items]);
  });

  test("is sent a plan that the agent proposes as an item", async () => {
    const server = await openServer({ scripts: [whole(PROPOSAL)] });
    const client = await server.client();
    const threadId = await startThread(client);
    await turnEnd(client, await startTurn(client, threadId, "go"));
    expect(received(client).filter((entry) => /plan/i.test(entry))).toEqual([
      "item/started plan",
      "item/completed plan",
    ]);
    const items = ["userMessage", "plan"];
    expect(await itemsRead(client, threadId)).toEqual([items, items, items]);
  });

  test.each([
    ["ask_user", ["userMessage"]],
    ["AskUserQuestion", ["userMessage"]],
    ["lookup", ["userMessage", "dynamicToolCall"]],
  ])("is shown the tool %s as the items %j", async (tool, items) => {
    const server = await openServer({ scripts: [[{ tool, arguments: { questions: [] } }]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    const { id } = await asked(client);
    client.answer(Number(id), { action: "accept", content: {} });
    await turnEnd(client, turnId);
    const live = received(client).flatMap((entry) => /^item\/completed (.*)/.exec(entry)?.[1] ?? []);
    expect([live, ...(await itemsRead(client, threadId))]).toEqual([items, items, items, items]);
  });

  test("is shown the plan of Flint's own agent once, and asked its question once", async () => {
    const client = await clientOfFlint();
    const threadId = await startThread(client);
    await turnEnd(client, await startTurn(client, threadId, "plan to list files and run `date`"));
    expect(new Set(received(client).filter((entry) => /plan/i.test(entry)))).toEqual(
      new Set(["turn/plan/updated"]),
    );
    const after = client.mark;
    const turnId = await startTurn(client, threadId, "ask me which colour: red or blue");
    const question = await asked(client, after);
    expect(question.method).toBe("item/tool/requestUserInput");
    client.answer(Number(question.id), { answers: { answer: { answers: ["red"] } } });
    await turnEnd(client, turnId);
    expect(received(client, after).filter((entry) => entry.startsWith("item/completed"))).toEqual([
      "item/completed userMessage",
      "item/completed agentMessage",
    ]);
    for (const items of await itemsRead(client, threadId)) {
      expect(items.filter((type) => /plan|tool/i.test(type))).toEqual([]);
    }
  });

  /** A review of a repository with one new file, up to its end; what is asked is cancelled. */
  async function reviewed(approvalPolicy: ApprovalPolicy): Promise<string[]> {
    const { path, join } = await temporaryFolder();
    await promisify(execFile)("git", ["init", "--quiet"], { cwd: path });
    await writeFile(join("notes.txt"), "one\n");
    const client = await clientOfFlint(path, approvalPolicy);
    const threadId = await startThread(client);
    const target = { type: "uncommittedChanges" };
    const { turn } = await ask(client, "review/start", { threadId, delivery: "inline", target });
    if (approvalPolicy === "always") {
      client.answer(Number((await asked(client)).id), { decision: "cancel" });
    }
    await turnEnd(client, String(fields(turn).id));
    return received(client).filter((entry) => entry.startsWith("item/") && /command/i.test(entry));
  }

  needs("namespaces")("is not asked about the commands of a review by Flint's own agent", async () => {
    const entries = await reviewed("unlessTrusted");
    expect(entries.slice(0, 3)).toEqual([
      "item/started commandExecution",
      "item/commandExecution/outputDelta",
      "item/completed commandExecution",
    ]);
    expect(entries).not.toContain("item/commandExecution/requestApproval");
  });

  needs("namespaces")(
    "is asked about the commands of a review where it is asked about everything",
    async () => {
      expect(await reviewed("always")).toEqual([
        "item/started commandExecution",
        "item/commandExecution/requestApproval",
        "item/completed commandExecution",
      ]);
    },
  );

  test("that joins late is sent a file change before it is asked about it", async () => {
    const diff = "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n";
    const step: Step = { fileChange: [{ path: "a.txt", kind: "add", diff }], startsFirst: true };
    const server = await openServer({ scripts: [[step]] });
    const client = await server.client();
    const threadId = await startThread(client);
    await startTurn(client, threadId, "go");
    await asked(client);
    const late = await server.client();
    await ask(late, "thread/resume", { threadId, excludeTurns: true });
    const again = await asked(late);
    const { params } = await late.waitForMethod("item/started");
    expect(fields(params).item).toMatchObject({
      id: fields(again.params).itemId,
      type: "fileChange",
      status: "inProgress",
      changes: [{ path: "a.txt", kind: { type: "add" }, diff: "one\n" }],
    });
    late.answer(Number(again.id), { decision: "accept" });
    for (const each of [client, late]) {
      await each.waitForMethod("turn/completed");
      expect(received(each).filter((entry) => /filechange/i.test(entry))).toEqual(CHANGED);
    }
  });

  test("is sent a file change once and before the request, also if the agent reports it after the approval", async () => {
    const step: Step = { fileChange: [{ path: "a.txt", kind: "add", diff: "" }] };
    const server = await openServer({ scripts: [[step]] });
    const client = await server.client();
    const threadId = await startThread(client);
    const turnId = await startTurn(client, threadId, "go");
    client.answer(Number((await asked(client)).id), { decision: "accept" });
    await turnEnd(client, turnId);
    expect(received(client).filter((entry) => /filechange/i.test(entry))).toEqual(CHANGED);
  });
});
