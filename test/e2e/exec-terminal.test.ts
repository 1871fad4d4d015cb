import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { descendantsOf } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { Pty } from "./terminal/exec-pty.ts";

describe("flint exec on a terminal", () => {
  test("shows progress and ends with a summary on a clean screen", async () => {
    const pty = await Pty.start(["exec", "--offline", "what is in this folder?"]);
    expect(await pty.exitCode()).toBe(0);
    const { text, cursorShown } = pty.screen;
    expect(text).toMatch(/^flint · offline · permissions: ask\n\n✓ \$ ls .*\n(.*\n)* {2}notes\.txt\n\n/);
    expect(text).toMatch(
      /\n✓ Done in [\d.]+s · \d+ tokens\n {2}Continue: flint exec --resume [\w-]+ "\.\.\."$/,
    );
    expect([text.includes("Ctrl-C"), cursorShown]).toEqual([false, true]);
  });

  test("asks before it runs a command, and y allows it once", async () => {
    const pty = await Pty.start(["exec", "--offline", "run `touch made.txt`"]);
    await pty.waitFor("[y]");
    expect(pty.screen.text).toContain("$ touch made.txt");
    expect(await readdir(pty.workspace)).not.toContain("made.txt");
    pty.type("y");
    expect(await pty.exitCode()).toBe(0);
    expect(await readdir(pty.workspace)).toContain("made.txt");
    expect(pty.screen.text).toContain("→ allowed once\n✓ $ touch made.txt");
  });

  test("says how to see long output, which is shown whole there", async () => {
    const run = await Pty.start(["exec", "--offline", "--approval", "never", "run `seq 40`"]);
    expect(await run.exitCode()).toBe(0);
    expect(run.screen.text).toContain("  … 30 more lines (flint threads show last)");
    const show = await Pty.start(["threads", "show", "last"], { folder: run.folder });
    expect(await show.exitCode()).toBe(0);
    expect(show.screen.text.split("\n").map((row) => row.trim())).toEqual(
      expect.arrayContaining(Array.from({ length: 40 }, (_, at) => String(at + 1))),
    );
  });

  test("Enter alone declines", async () => {
    const pty = await Pty.start(["exec", "--offline", "run `touch made.txt`"]);
    await pty.waitFor("[y]");
    pty.type("\r");
    expect(await pty.exitCode()).toBe(0);
    expect(await readdir(pty.workspace)).not.toContain("made.txt");
    expect(pty.screen.text).toContain("⊘ $ touch made.txt  declined");
  });

  test("keys typed before the question do not answer it", async () => {
    const pty = await Pty.start(["exec", "--offline", "run `touch made.txt`"]);
    await pty.waitFor("Starting");
    pty.type("y");
    pty.type("yyyy");
    await pty.waitFor("[y]");
    pty.type("n");
    await pty.exitCode();
    expect(await readdir(pty.workspace)).not.toContain("made.txt");
  });

  test("Ctrl-C stops the turn and its processes and sets the exit code", async () => {
    // No other run of these tests, beside this one, sleeps as long as this.
    const sleep = `sleep 9${process.pid}`;
    const pty = await Pty.start(["exec", "--offline", `run \`${sleep}\``]);
    await pty.waitFor("[y]");
    pty.type("y");
    await pty.waitFor("Running a command");
    pty.type("\u0003");
    expect(await pty.exitCode()).toBe(130);
    expect(pty.screen.text).toMatch(/⊘ Interrupted in/);
    expect(descendantsOf(1).filter(({ command }) => command.includes(sleep))).toEqual([]);
  });

  test("a second Ctrl-C exits at once and restores the terminal", async () => {
    const pty = await Pty.start(["exec", "--offline", "run `touch made.txt`"]);
    await pty.waitFor("[y]");
    pty.type("\u0003\u0003");
    expect(await pty.exitCode()).toBe(130);
    expect(pty.screen.cursorShown).toBe(true);
  });

  test("Ctrl-C at a question interrupts and runs nothing", async () => {
    const pty = await Pty.start(["exec", "--offline", "run `touch made.txt`"]);
    await pty.waitFor("[y]");
    pty.type("\u0003");
    expect(await pty.exitCode()).toBe(130);
    expect(await readdir(pty.workspace)).not.toContain("made.txt");
  });

  test("a question is withdrawn with a message when it times out", async () => {
    const pty = await Pty.start(["exec", "--offline", "--approval-timeout", "0.6", "run `touch made.txt`"]);
    await pty.waitFor("no answer in time");
    expect(await pty.exitCode()).toBe(3);
    expect(pty.screen.text).not.toContain("[y]");
  });

  test("a question of the agent is answered by a number", async () => {
    const pty = await Pty.start(["exec", "--offline", "ask me which colour: red, green or blue"]);
    await pty.waitFor("> ");
    pty.type("2\r");
    expect(await pty.exitCode()).toBe(0);
    expect(pty.screen.text).toContain("> green");
  });

  test("at a limit y continues, and an invalid answer is asked again", async () => {
    const pty = await Pty.start(["exec", "--offline", "--max-steps", "1", "run `ls`"]);
    await pty.waitFor("Type y or n");
    await pty.waitFor("> ");
    pty.type("hm\r");
    await pty.waitFor("Please answer y, n");
    await pty.waitFor("> ");
    pty.type("y\r");
    expect(await pty.exitCode()).toBe(0);
    expect(pty.screen.text).toContain("> Continue");
  });

  test("an agent that never asks for approval is announced first", async () => {
    const pty = await Pty.start(["exec", "--offline", "--approval", "never", "what is in this folder?"]);
    expect(await pty.exitCode()).toBe(0);
    expect(pty.screen.text).toMatch(/^flint · .*\n(.*\n)?\S Approvals are off\.\n/);
  });

  test("on 20 columns, without colours and without Unicode, every row fits and is ASCII", async () => {
    const env = { LANG: "C", NO_COLOR: "1" };
    const pty = await Pty.start(["exec", "--offline", "what is in this folder?"], { columns: 20, env });
    expect(await pty.exitCode()).toBe(0);
    expect(pty.screen.rows.filter((row) => row.length > 20)).toEqual([]);
    expect(pty.screen.text).toMatch(/^[\x20-\x7e\n]*$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour
    expect(pty.output).not.toMatch(/\u001b\[[\d;]*m/);
  });

  test("a terminal that cannot move its cursor gets plain lines, and can still answer", async () => {
    const pty = await Pty.start(["exec", "--offline", "run `touch made.txt`"], { env: { TERM: "dumb" } });
    await pty.waitFor("[y]");
    pty.type("y");
    expect(await pty.exitCode()).toBe(0);
    expect(await readdir(pty.workspace)).toContain("made.txt");
    expect(pty.output).not.toContain("\u001b");
  });

  test("with piped input, questions are still answered at the terminal", async () => {
    const shell = (command: string) => `echo context | ${command}`;
    const pty = await Pty.start(["exec", "--offline", "run `touch made.txt`"], { shell });
    await pty.waitFor("[y]");
    pty.type("y");
    expect(await pty.exitCode()).toBe(0);
    expect(await readdir(pty.workspace)).toContain("made.txt");
  });

  test.each([
    ["while a command runs", "never", "ready"],
    ["at a question", "unless-trusted", "[y]"],
  ])("a terminal that is closed %s ends the turn cleanly", async (_, approval, shown) => {
    // The shell outlives its terminal to report the exit code.
    const shell = (command: string) =>
      `trap '' HUP; ${command} 2>errors; echo $? > code.tmp; mv code.tmp code`;
    const prompt = "run `while :; do echo ready; sleep 0.1; done`";
    const pty = await Pty.start(["exec", "--offline", "--approval", approval, prompt], { shell });
    await pty.waitFor(shown);
    pty.hangUp();
    const read = (name: string) => readFile(join(pty.workspace, name), "utf8");
    await expect.poll(() => read("code").catch(() => undefined), { timeout: 20_000 }).toBe("143\n");
    expect(await read("errors")).toBe("");
    const [thread] = await readdir(`${pty.home}/threads`);
    expect(await readFile(`${pty.home}/threads/${thread}/events.jsonl`, "utf8")).toMatch(
      /"turn\/completed".*"interrupted"/,
    );
  });
});
