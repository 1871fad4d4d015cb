import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentProgram } from "@flint/testkit";
import { expect } from "vitest";
import { type CodexTui, needsTui, TuiFixture } from "./tui.ts";

/** Several programs are started one after the other, on a machine that may be busy. */
const TEST_MS = 150_000;
const OFFLINE = "Flint offline model";
const CODEX = JSON.stringify([agentProgram("codex") ?? "codex"]);
/** Nothing that runs without a question, and harmless in every sandbox. */
const COMMAND = 'sh -c "echo lantern"';

const test = needsTui("codex");

test(
  "the stock Codex TUI drives Flint: text, approvals, Esc, steering, its commands and pickers, and resumed threads [S0-101]",
  async () => {
    const fixture = await TuiFixture.make(["--offline"], `[agents.codex]\ncommand = ${CODEX}\n`);
    const tui = await fixture.tui();
    await tui.isReady(OFFLINE);
    await worksOnPrompts(tui, fixture.workspace);
    await showsWorkOnce(tui);
    await isSteeredAndStopped(tui, fixture.workspace);
    await knowsItsCommands(tui);
    expect(await tui.troubles()).toEqual([]);
    await tui.quit();
    await takesThreadsUp(fixture);
  },
  TEST_MS,
);

test(
  "a Codex that trusts no folder asks before it writes, and does what is approved",
  async () => {
    const fixture = await TuiFixture.make(["--offline"], "", { trustsWorkspace: false });
    const tui = await fixture.tui();
    await tui.isReady(OFFLINE);
    await tui.ask("run `touch made.txt`");
    await tui.answer("$ touch made.txt", "y");
    await tui.shows("touch made.txt ended with exit code 0");
    await tui.isDone();
    await tui.ask("write `lantern` to light.txt");
    await tui.answer(`Destination: ${fixture.workspace}/light.txt`, "y");
    await tui.shows("Done: light.txt was added.");
    await tui.isDone();
    expect(existsSync(join(fixture.workspace, "made.txt"))).toBe(true);
    await tui.ask("/status");
    await tui.shows(/Permissions: +.*read.only/i);
    expect(await tui.troubles()).toEqual([]);
    await tui.quit();
  },
  TEST_MS,
);

async function worksOnPrompts(tui: CodexTui, workspace: string): Promise<void> {
  await tui.ask("hello");
  await tui.shows("I am Flint's offline model");
  await tui.isDone();
  await tui.shows(" · Hello · ");
  await tui.ask(`run \`${COMMAND}\``);
  await tui.answer(`$ ${COMMAND}`, "y");
  await tui.shows(/Ran sh -c "echo lantern"\n +└ lantern/);
  await tui.isDone();
  await tui.ask("write `lantern` to light.txt");
  await tui.answer(`Destination: ${workspace}/light.txt`, "y");
  await tui.isDone();
  expect(await readFile(join(workspace, "light.txt"), "utf8")).toContain("lantern");
  await tui.ask("run `touch no.txt`");
  await tui.answer("$ touch no.txt", "d");
  await tui.shows("because it was declined");
  await tui.isDone();
  expect(existsSync(join(workspace, "no.txt"))).toBe(false);
}

async function showsWorkOnce(tui: CodexTui): Promise<void> {
  await tui.ask("plan to list files and run `date`");
  await tui.shows(/Updated Plan[\s\S]*✔ list files\n +✔ run `date`/);
  await tui.isDone();
  await tui.ask("ask me which colour: red or blue");
  await tui.shows("› 1. red");
  await tui.terminal.press("Enter");
  await tui.shows(/Questions 1\/1 answered\n[\s\S]*You answered: red/);
  await tui.isDone();
  const everything = await tui.terminal.everything();
  expect(everything).not.toContain("Proposed Plan");
  expect(everything).not.toContain("Called ask_user");
}

async function isSteeredAndStopped(tui: CodexTui, workspace: string): Promise<void> {
  const waiting = "until [ -e go ]; do sleep 0.1; done";
  await tui.ask(`run \`${waiting}\``);
  await tui.answer(`$ ${waiting}`, "y");
  await tui.shows("esc to interrupt");
  await tui.ask("what did I ask before?");
  await tui.shows("esc to interrupt");
  await writeFile(join(workspace, "go"), "");
  await tui.shows(/You asked me:\n +1\. hello\n/);
  await tui.isDone();
  await tui.ask("run `sleep 3600`");
  await tui.answer("$ sleep 3600", "y");
  await tui.shows("esc to interrupt");
  await tui.terminal.press("Escape");
  await tui.shows("Conversation interrupted");
}

async function knowsItsCommands(tui: CodexTui): Promise<void> {
  await tui.ask("/status");
  await tui.shows(/Thread name: +Hello\n/);
  await tui.shows(/Token usage: +[\d.]+K total/);
  await tui.shows(/Context window: +(?:100|[1-9]\d?)% left/);
  await tui.ask("!echo from the shell");
  await tui.shows(/You ran echo from the shell\n +└ from the shell\n[\s\S]* {2}Worked for /);
  await tui.ask("/model");
  await tui.shows(/Flint offline model \(current\)[\s\S]*\. Codex /);
  await tui.terminal.press("Escape");
  // A key that follows too closely would be taken for one that is pressed together with Alt.
  await tui.terminal.until((text) => !text.includes("Select Model and Effort"), "the end of the picker");
  await tui.ask("/review");
  await tui.shows("Review uncommitted changes");
  await tui.terminal.press("Down", "Enter");
  await tui.shows("Code review finished");
  await tui.shows("light.txt (new, not yet known to git)");
  await tui.ask("/fork");
  await tui.shows("Fork created.");
  await tui.ask("which files did I name?");
  await tui.isDone();
  await tui.ask("/compact");
  await tui.shows("Context compacted");
  await tui.ask("/new");
  await tui.isReady(OFFLINE);
  await tui.ask("list the files");
  await tui.shows("light.txt");
  await tui.isDone();
  await tui.shows(" · List the files · ");
}

async function takesThreadsUp(fixture: TuiFixture): Promise<void> {
  const last = await fixture.tui("resume", "--last");
  await last.isReady(OFFLINE);
  await last.shows("› list the files");
  await last.ask("what did I ask before?");
  await last.shows(/You asked me:\n +1\. list the files\n/);
  await last.isDone();
  await isSharedWith(fixture, last);
  expect(await last.troubles()).toEqual([]);
  await last.quit();

  const picker = await fixture.tui("resume");
  await picker.shows("Resume a previous session");
  await picker.shows(/List the files\n.*Which files did I name.*\n.*Hello\n/);
  await picker.terminal.press("Down", "Down", "Enter");
  await picker.isReady(OFFLINE);
  await picker.shows("Ran sh -c");
  await picker.ask("/permissions");
  await picker.shows("Ask for approval (current)");
  await picker.terminal.press("Down", "Down", "Down", "Enter");
  await picker.shows("Permission selection requested: Read Only");
  await picker.ask("write `dark` to dark.txt");
  await picker.answer(`Destination: ${fixture.workspace}/dark.txt`, "y");
  await picker.shows("Done: dark.txt was added.");
  await picker.isDone();
  // Shows that a line in red would have been found.
  await picker.ask("fail with a bang");
  const complaint = "■ The offline model failed: a bang";
  await picker.shows(complaint);
  expect(await picker.troubles()).toEqual([complaint]);
  await picker.quit();
}

/** Both are on the same thread: what one asks for can be allowed in the other, also if that one comes later. */
async function isSharedWith(fixture: TuiFixture, tui: CodexTui): Promise<void> {
  await tui.ask("write `late` to late.txt");
  await tui.shows("Would you like to make the following edits?");
  const other = await fixture.tui("resume", "--last");
  await other.shows(/Added late\.txt \(\+1 -0\)\n +1 \+late/);
  await other.answer(`Destination: ${fixture.workspace}/late.txt`, "y");
  for (const each of [tui, other]) {
    await each.shows("Done: late.txt was added.");
    await each.isDone();
  }
  await tui.ask("run `touch shared.txt`");
  await tui.shows("$ touch shared.txt");
  await other.answer("$ touch shared.txt", "y");
  for (const each of [tui, other]) {
    await each.shows("touch shared.txt ended with exit code 0");
    await each.isDone();
    expect(await each.terminal.screen()).not.toContain("Would you like to");
  }
  expect(await other.troubles()).toEqual([]);
  await other.quit();
}
