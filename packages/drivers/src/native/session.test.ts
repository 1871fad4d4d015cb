import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { DriverEvent, Sandbox } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { LIMITS, type Turn } from "@flint/protocol";
import { needs, runningProcesses, settled, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { sessionSpec, testSettings } from "../testing/session-spec.ts";
import { NativeDriver } from "./driver.ts";
import { turnsOf } from "./testing/session-fixture.ts";

const sandbox = new CommandSandbox({ environment: process.env });

/** An agent in a folder of its own. */
async function open(options: { history?: readonly Turn[]; sandbox?: Sandbox } = {}) {
  const folder = await temporaryFolder();
  const settings = testSettings("flint/offline", folder.path);
  const history = async () => options.history ?? [];
  const session = await new NativeDriver().open(
    sessionSpec(settings, options.sandbox ?? sandbox, { history }),
  );
  onTestFinished(() => session.close());
  return { folder, session, ...turnsOf(session, settings) };
}

const sandboxed = needs("namespaces");

sandboxed("shows a command with its output and exit code, and reports usage", async () => {
  const { folder, run } = await open();
  writeFileSync(folder.join("README.md"), "# Hello\n");
  mkdirSync(folder.join("source"));
  const { turn, outcome } = await run("run `ls -p`");
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.text).toContain("README.md");
  expect(turn.completed("commandExecution")).toEqual([
    {
      type: "commandExecution",
      id: `${turn.turnId}-1`,
      command: "ls -p",
      cwd: folder.path,
      status: "completed",
      exitCode: 0,
      aggregatedOutput: "README.md\nsource/\n",
      durationMs: expect.any(Number),
    },
  ]);
  const usage = turn.events.findLast((event) => event.type === "usage");
  expect(usage).toMatchObject({ modelContextWindow: 16_384, last: { inputTokens: expect.any(Number) } });
});

sandboxed("requests approval of the exact command, runs it, and reports its exit code", async () => {
  const { folder, run } = await open();
  const command = "echo 'a  b' > file; echo done; exit 4";
  const { turn } = await run(`run \`${command}\``);
  const [item] = turn.completed("commandExecution");
  expect(turn.actions).toEqual([{ kind: "command", itemId: item?.id, command, cwd: folder.path }]);
  expect(item).toMatchObject({ status: "failed", exitCode: 4, aggregatedOutput: "done\n" });
  expect(readFileSync(folder.join("file"), "utf8")).toBe("a  b\n");
  const deltas = turn.events.flatMap((event) =>
    event.type === "item/commandExecution/outputDelta" ? [event.delta] : [],
  );
  expect(deltas.join("")).toBe("done\n");
});

test("does not run a declined command", async () => {
  const { folder, run } = await open();
  const { turn, outcome } = await run("run `touch made`", { decide: () => "deny" });
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.completed("commandExecution")).toMatchObject([{ status: "declined" }]);
  expect(turn.text).toContain("declined");
  expect(existsSync(folder.join("made"))).toBe(false);
});

test("ends the turn if the approval is cancelled", async () => {
  const { folder, run } = await open();
  const { outcome } = await run("run `touch made`", { decide: () => "cancel" });
  expect(outcome).toEqual({ status: "interrupted" });
  expect(existsSync(folder.join("made"))).toBe(false);
});

sandboxed("truncates long output to its beginning and end [P11]", async () => {
  const { run } = await open();
  const { turn } = await run("run `echo START; head -c 5000000 /dev/zero | tr '\\0' x; echo END`");
  const [item] = turn.completed("commandExecution");
  expect(item?.aggregatedOutput?.length).toBeLessThanOrEqual(LIMITS.output);
  expect(item?.aggregatedOutput).toMatch(/^START\nx.*xEND\n$/s);
  expect(item?.omittedOutputBytes).toBeGreaterThan(3_900_000);
});

test("fails the turn and runs nothing without a sandbox, and says how to fix it [P33]", async () => {
  const none = new CommandSandbox({ environment: process.env, mechanisms: [] });
  const { folder, run } = await open({ sandbox: none });
  const { turn, outcome } = await run("run `touch made`");
  expect(outcome).toMatchObject({ status: "failed", error: { errorInfo: "SandboxError" } });
  expect(turn.completed("commandExecution")).toMatchObject([
    { status: "failed", aggregatedOutput: expect.stringContaining("apt-get install bubblewrap") },
  ]);
  expect(existsSync(folder.join("made"))).toBe(false);
});

sandboxed("ends a running command on interrupt before the turn ends [P13]", async () => {
  const { begin, session } = await open();
  const marker = `300.${process.pid}${Date.now() % 100_000}`;
  let started = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const watch = (event: DriverEvent) => {
    if (event.type === "item/commandExecution/outputDelta") started();
  };
  const { turn, ended } = begin(`run \`echo up; sleep ${marker}\``, { watch });
  await running;
  turn.stop.abort();
  expect(await ended).toEqual({ status: "interrupted" });
  expect(runningProcesses().filter(({ command }) => command.includes(marker))).toEqual([]);
  expect(await session.steer?.([{ type: "text", text: "late" }])).toBe(false);
});

test("stops a stream on interrupt, and runs the next turn [P12]", async () => {
  const { run, begin } = await open();
  const watch = (event: DriverEvent) => {
    if ("delta" in event && event.delta === "20 ") stopped.turn.stop.abort();
  };
  const stopped = begin("count to 100000", { watch });
  expect(await stopped.ended).toEqual({ status: "interrupted" });
  expect(stopped.turn.events.length).toBeLessThan(50);
  expect((await run("what did I ask before?")).turn.text).toBe("You asked me:\n1. count to 100000");
});

test("ends the turn when the session is closed", async () => {
  const { session, begin } = await open();
  const { ended } = begin("count to 100000");
  await settled();
  await session.close();
  expect(await ended).toEqual({ status: "interrupted" });
});

sandboxed("adds steering input at the next step", async () => {
  const { begin, session } = await open();
  let steered: Promise<boolean> | undefined;
  const watch = (event: DriverEvent) => {
    if (event.type === "item/started" && event.item.type === "commandExecution") {
      steered ??= session.steer?.([{ type: "text", text: "run `echo second`" }]);
    }
  };
  const { turn, ended } = begin("run `echo first`", { watch });
  expect(await ended).toEqual({ status: "completed" });
  expect(await steered).toBe(true);
  expect(turn.completed("commandExecution").map(({ command }) => command)).toEqual([
    "echo first",
    "echo second",
  ]);
  expect(turn.text).toMatch(/first.*second/s);
  expect(await session.steer?.([{ type: "text", text: "late" }])).toBe(false);
});

sandboxed("shows a plan, updates it step by step, and completes it", async () => {
  const { run } = await open();
  const { turn } = await run("plan to list files and run `echo hi`");
  const updates = turn.events.flatMap((event) =>
    event.type === "turn/plan/updated" ? [event.plan.map(({ status }) => status).join(" ")] : [],
  );
  expect(updates).toEqual(["inProgress pending", "completed inProgress", "completed completed"]);
  expect(turn.completed("plan")).toMatchObject([
    { text: "1. list files\n2. run `echo hi`", entries: [{ status: "completed" }, { status: "completed" }] },
  ]);
});

test("asks the user and uses the answer", async () => {
  const { run } = await open();
  const answered = await run("ask me which colour: red or blue", {
    answers: { answer: { answers: ["blue"] } },
  });
  expect(answered.turn.text).toBe("You answered: blue");
  expect(answered.turn.completed("toolCall")).toMatchObject([{ tool: "ask_user", status: "completed" }]);
  expect((await run("ask me for a number")).turn.text).toBe("No one answered, so I stop here.");
});

test("emits reasoning before the answer", async () => {
  const { run } = await open();
  const { turn } = await run("think about life");
  const [reasoning] = turn.completed("reasoning");
  const deltas = turn.events.flatMap((event) =>
    event.type === "item/reasoning/textDelta" ? [event.delta] : [],
  );
  expect(deltas.length).toBeGreaterThan(5);
  expect(deltas.join("")).toBe(reasoning?.content);
});

test("answers with JSON that matches the output schema", async () => {
  const { run } = await open();
  const outputSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  expect(JSON.parse((await run("hello", { outputSchema })).turn.text)).toEqual({ ok: true });
});

test("shows the exact diff of a file and writes it once approved", async () => {
  const { folder, run } = await open();
  writeFileSync(folder.join("a.txt"), "one\n");
  const { turn } = await run("change file a.txt to `two`");
  const changes = [
    {
      path: folder.join("a.txt"),
      kind: "modify",
      diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n",
    },
  ];
  expect(turn.actions).toEqual([{ kind: "fileChange", itemId: `${turn.turnId}-1`, changes }]);
  expect(turn.completed("fileChange")).toEqual([
    { type: "fileChange", id: `${turn.turnId}-1`, changes, status: "completed" },
  ]);
  expect(readFileSync(folder.join("a.txt"), "utf8")).toBe("two\n");
  const added = await run("write `x` to new/folder/b.txt");
  expect(added.turn.completed("fileChange")).toMatchObject([
    { status: "completed", changes: [{ kind: "add" }] },
  ]);
  expect(readFileSync(folder.join("new", "folder", "b.txt"), "utf8")).toBe("x\n");
});

test("reads the conversation from stored turns, without the running one", async () => {
  const items: Turn["items"] = [
    { type: "userMessage", id: "u", content: [{ type: "text", text: "the first thing" }] },
    { type: "agentMessage", id: "a", text: "Yes." },
  ];
  const { run } = await open({ history: [{ id: "earlier", status: "completed", items }] });
  expect((await run("what did I ask before?")).turn.text).toBe("You asked me:\n1. the first thing");
});

test("remembers only the summary after a compaction", async () => {
  const { run } = await open();
  await run("hello there");
  const { turn, outcome } = await run("", { kind: "compact" });
  expect(outcome).toEqual({ status: "completed" });
  const [item] = turn.completed("contextCompaction");
  expect(item?.summary).toContain("- hello there");
  expect((await run("what did I ask before?")).turn.text).toBe(item?.summary);
});

needs("git")("reviews the changes and names the files", async () => {
  const { run } = await open();
  const fullAccess = { settings: { sandboxPolicy: { type: "dangerFullAccess" } } } as const;
  await run(
    "run `git init -q . && echo one > a.txt && git add . && git -c user.name=A -c user.email=a@b commit -qm first && echo two > a.txt && echo x > b.txt`",
    fullAccess,
  );
  const { turn } = await run("Review the uncommitted changes.", {
    ...fullAccess,
    kind: "review",
    review: { type: "uncommittedChanges" },
  });
  expect(turn.text).toMatch(/^The changes touch 2 files:\n- a\.txt \(\+1 -1\)\n- b\.txt \(new/);
  const commit = await run("Review.", {
    ...fullAccess,
    kind: "review",
    review: { type: "commit", sha: "HEAD" },
  });
  expect(commit.turn.text).toMatch(/^The changes touch 1 file:\n- a\.txt \(\+1 -0\)/);
  const nowhere = await run("Review.", {
    ...fullAccess,
    kind: "review",
    review: { type: "baseBranch", branch: "none" },
  });
  expect(nowhere.turn.text).toMatch(/^I could not see the changes\./);
});

test("fails the turn if the model fails, and keeps the session usable", async () => {
  const { run } = await open();
  const { outcome } = await run("fail with no luck");
  expect(outcome).toMatchObject({ status: "failed", error: { message: expect.stringContaining("no luck") } });
  expect((await run("hello")).outcome).toEqual({ status: "completed" });
  const unknown = await run("hello", { settings: { model: "flint/unknown" } });
  expect(unknown.outcome).toMatchObject({
    error: { message: expect.stringContaining("Choose flint/offline") },
  });
});
