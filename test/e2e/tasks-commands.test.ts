import { userInfo } from "node:os";
import { agentFolder, leavesNoProcess, needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { commandFixture } from "./flint.ts";
import { FLINT } from "./server.ts";
import { Terminal } from "./terminal/tmux.ts";

const TEST_MS = 120_000;

/** A folder with a server that is stopped at the end, and a task that asks because it changed nothing. */
async function withTaskThatAsks() {
  leavesNoProcess(10_000);
  const fixture = await commandFixture(agentFolder());
  onTestFinished(async () => void (await fixture.flint(["server", "stop"])));
  const flint = async (...args: string[]) => {
    const ran = await fixture.flint(["tasks", ...args]);
    return { ...ran, lines: ran.stdout.trimEnd().split("\n") };
  };
  await flint("add", "say hello");
  return { ...fixture, flint, run: fixture.flint };
}

needs("bwrap")(
  "tasks watch ends with 10 when a task waits for one that asks, and lists leave out the others",
  async () => {
    const { flint } = await withTaskThatAsks();
    await flint("add", "write `two` to two.txt", "--after", "1", "--git", "off");
    await flint("add", "write `three` to three.txt", "--at", "2999-01-01 22:00", "--at-limit", "ask");
    const one = await flint("watch", "2");
    expect([one.code, one.lines.slice(-2)]).toEqual([
      10,
      ["#2 write `two` to two.txt: waiting", "   comes after #1, which needs an answer"],
    ]);
    const numbers = async (...args: string[]) =>
      JSON.parse((await flint("list", "--json", ...args)).stdout).map(
        (task: { number: number }) => task.number,
      );
    expect(await numbers("--asking")).toEqual([1]);
    expect((await numbers("--mine")).sort()).toEqual([1, 2, 3]);
    const shown = JSON.parse((await flint("show", "3", "--json")).stdout);
    expect(shown).toMatchObject({
      task: { phase: "waiting", addedBy: userInfo().username },
      spec: { notBeforeMs: new Date("2999-01-01T22:00").getTime(), limits: { resume: "ask" } },
    });
    expect((await flint("list")).stdout).toMatch(/#3 +starts in \d+/);
    expect((await flint("open", "3")).stderr).toContain("Task 3 is waiting and has no thread yet");
    await flint("answer", "1", "--fail");
    await flint("cancel", "3");
    // What depends on a task that failed asks itself.
    expect((await flint("watch", "2")).stdout).toContain("Task 1, which it depends on, is not done.");
  },
  TEST_MS,
);

needs("bwrap")(
  "a misspelled agent is rejected before a task is added, and the offline model reviews",
  async () => {
    const { flint } = await withTaskThatAsks();
    const misspelled = await flint("add", "say hello", "--executor", "cluade");
    expect([misspelled.code, misspelled.stderr]).toEqual([
      2,
      expect.stringContaining("No agent cluade. Did you mean claude?"),
    ]);
    await flint("add", "write `two` to two.txt", "--executor", "offline", "--reviewer", "flint/offline");
    expect((await flint("watch", "2")).stdout).toContain("needs approval");
    const { lines } = await flint("approve", "2", "--yes");
    expect(lines).toEqual([
      ...["#2 write `two` to two.txt: approved", "", "flint tasks watch 2 shows where the result is."],
    ]);
    for (const args of [["--yes"], []]) {
      const early = await flint("approve", "1", ...args);
      expect(early.stderr).toContain('does not need an approval. Answer it: flint tasks answer 1 "…".');
    }
  },
  TEST_MS,
);

needs("bwrap", "tmux")(
  "tasks approve shows the diff and asks, and a no leaves the task as it is",
  async () => {
    const { flint, cwd, home, environment: env } = await withTaskThatAsks();
    await flint("add", "write `two` to two.txt");
    expect((await flint("watch", "2")).code).toBe(10);
    const command = [process.execPath, FLINT, "tasks", "approve", "2"];
    const terminal = await Terminal.start({ command, cwd, env, folder: home });
    await terminal.until((screen) => screen.includes("Approve this result? [y/N]"), "the question");
    expect(await terminal.screen()).toContain("+two");
    await terminal.press("n", "Enter");
    expect(await terminal.exitCode()).toBe(10);
    expect(await terminal.everything()).toContain(
      'Not approved. flint tasks reject 2 "COMMENTS" sends it back.',
    );
    expect((await flint("watch", "2")).stdout).toContain("needs approval");
  },
  TEST_MS,
);

needs("bwrap", "tmux")(
  "tasks open shows the thread of the executor in a session",
  async () => {
    const { flint, cwd, home, environment: env } = await withTaskThatAsks();
    expect((await flint("watch")).code).toBe(10);
    const command = [process.execPath, FLINT, "tasks", "open", "1"];
    const terminal = await Terminal.start({ command, cwd, env, folder: home });
    await terminal.until((screen) => screen.includes("say hello"), "the prompt of the task");
  },
  TEST_MS,
);

needs("bwrap")(
  "exec --detach names its task and ends while that works, and its result is in the log of the task",
  async () => {
    leavesNoProcess(10_000);
    const { flint } = await commandFixture(agentFolder());
    onTestFinished(async () => void (await flint(["server", "stop"])));
    const namesTask = (task: number) => ({
      ...{ code: 0, stderr: "" },
      stdout: `Task ${task} runs in the background.\nflint tasks logs ${task} -f follows it, and flint tasks show ${task} shows its status.\n`,
    });
    // This one waits a minute for the answer to its question.
    expect(await flint(["exec", "--detach", "ask me which colour: red, green or blue"])).toEqual(
      namesTask(1),
    );
    expect(await flint(["exec", "--detach", "write `two` to two.txt"])).toEqual(namesTask(2));
    const { stdout } = await flint(["tasks", "logs", "2", "-f"]);
    expect(stdout).toContain("  work done: Done: two.txt was added.\n");
    expect((await flint(["tasks", "logs", "1"])).stdout).toMatch(
      / {2}round 1: the default agent starts work\n$/,
    );
    expect((await flint(["tasks", "cancel", "1"])).code).toBe(0);
  },
  TEST_MS,
);

needs("bwrap")("threads list leaves out the threads of tasks unless they are asked for", async () => {
  const { flint, run } = await withTaskThatAsks();
  await flint("watch", "1");
  await run(["exec", "what is in this folder?"]);
  const listed = async (...args: string[]): Promise<{ id: string; taskId?: string }[]> =>
    JSON.parse((await run(["threads", "list", "--json", ...args])).stdout);
  const [own] = await listed();
  const [ofTask] = await listed("--tasks");
  expect([own?.taskId, typeof ofTask?.taskId]).toEqual([undefined, "string"]);
  expect([await listed(), await listed("--tasks")]).toMatchObject([[own], [ofTask]]);
  expect((await listed("--all")).map(({ id }) => id).sort()).toEqual([own?.id, ofTask?.id].sort());
  const shown = await run(["threads", "show", ofTask?.id ?? ""]);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("say hello") });
});
