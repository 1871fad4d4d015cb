import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mintId } from "@flint/protocol";
import { Gate, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import {
  addTask,
  setUpTasks,
  type TaskFixture,
  untilPhase,
  untilTask,
  verdict,
  writes,
} from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

/** Leaves the journal as a server does that is killed before it writes the first event of this name. */
async function cutJournal(home: string, type: string, next?: (version: number) => object) {
  const path = join(home, "state/tasks/journal.jsonl");
  const lines = (await readFile(path, "utf8")).split("\n");
  const at = lines.findIndex((line) => line.includes(`"type":"${type}"`));
  expect(at).toBeGreaterThan(0);
  const kept = lines.slice(0, at);
  const { version } = JSON.parse(lines[at] ?? "");
  await writeFile(
    path,
    `${[...kept, ...(next === undefined ? [] : [JSON.stringify(next(version))])].join("\n")}\n`,
  );
}

/** A message to a task that no turn got, as the journal has it. */
const steered = (task: string) => (version: number) => ({
  ...{ task, version, at: Date.now(), type: "task/steered" },
  data: { steerId: mintId(), by: "ann", content: "Mind the tests", live: false },
});

async function namesOf(client: TaskFixture["client"], taskId: string) {
  return (await client.call("task/read", { taskId })).events.map(({ type }) => type);
}

describe("a server that was killed after a turn had ended, and before it could say so", () => {
  confined("takes the result instead of doing the turn again", async () => {
    const { client, cwd, home, drivers, stop, start } = await setUpTasks(writes("b.txt", "x\n", "made b"));
    const { id } = await addTask(client, cwd, { reviewers: [] });
    const before = await untilPhase(client, id, "approving", "asking", "failed");
    await stop();
    await cutJournal(home, "round/executed");
    const again = (await start()).client;
    const task = await untilPhase(again, id, "approving", "asking", "failed");
    expect(task).toMatchObject({ phase: "approving", round: 1, result: { tree: before.result?.tree } });
    expect(drivers[0]?.turns).toHaveLength(1);
    expect(await namesOf(again, id)).toContain("run/lost");
    const { events } = await again.call("task/read", { taskId: id });
    expect(events.find(({ type }) => type === "task/logged")?.data).toMatchObject({
      message: "An earlier run had ended the turn of round 1; it is not repeated.",
    });
    expect(events.find(({ type }) => type === "round/executed")?.data).toMatchObject({
      turn: before.thread,
      summary: "made b",
      usage: { seconds: expect.any(Number) },
    });
  });

  confined("does not tell the executor later that it was interrupted", async () => {
    const prompts: string[] = [];
    const { client, cwd, home, stop, start } = await setUpTasks((text, turn, folder) => {
      prompts.push(text);
      return writes("b.txt", `${prompts.length}\n`)(text, turn, folder);
    });
    const { id } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, id, "approving", "asking", "failed");
    await stop();
    await cutJournal(home, "round/executed");
    const again = (await start()).client;
    await untilPhase(again, id, "approving", "asking", "failed");
    await again.call("task/reject", { taskId: id, comments: "Write more" });
    await untilTask(again, id, ({ phase, round }) => phase === "approving" && round === 2);
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toContain("Write more");
    expect(prompts[1]).not.toContain("interrupted");
  });

  confined("does it again if the user has said something since then", async () => {
    const prompts: string[] = [];
    const { client, cwd, home, stop, start } = await setUpTasks((text, turn, folder) => {
      prompts.push(text);
      return writes("b.txt", `${prompts.length}\n`)(text, turn, folder);
    });
    const { id } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, id, "approving", "asking", "failed");
    await stop();
    await cutJournal(home, "round/executed", steered(id));
    await untilPhase((await start()).client, id, "approving", "asking", "failed");
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toContain("Mind the tests");
  });

  confined("judges once if it was the reviewer's turn", async () => {
    const { client, cwd, home, drivers, stop, start } = await setUpTasks(writes("b.txt", "x\n"));
    const { id } = await addTask(client, cwd);
    await untilPhase(client, id, "approving", "asking", "failed");
    await stop();
    await cutJournal(home, "round/reviewed");
    const task = await untilPhase((await start()).client, id, "approving", "asking", "failed");
    expect(task).toMatchObject({ phase: "approving", round: 1 });
    expect(drivers.map(({ turns }) => turns.length)).toEqual([1, 1]);
  });
});

confined("a reviewer whose turn was cut off by the end of its server is asked again", async () => {
  const gate = new Gate();
  let reviews = 0;
  const { client, cwd, stop, start } = await setUpTasks(writes("b.txt", "x\n"), () => {
    reviews += 1;
    return reviews === 1 ? [{ wait: gate }] : [verdict("approve")];
  });
  const { id } = await addTask(client, cwd);
  await gate.reached;
  await stop();
  const task = await untilPhase((await start()).client, id, "approving", "asking", "failed");
  expect(task, JSON.stringify(task.ask)).toMatchObject({ phase: "approving", round: 1 });
  expect(reviews).toBe(2);
});
