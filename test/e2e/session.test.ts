import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@flint/sdk";
import { agentFolder, leavesNoProcess, needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { choosing, SCRIPTED_AGENTS, type ScriptedAgent } from "./scripted-agents.ts";
import { FLINT } from "./server.ts";
import { Terminal } from "./tmux.ts";

const TEST_MS = 180_000;

/** A project, its state folder, and how a session is opened in it. */
interface Place {
  readonly workspace: string;
  readonly state: string;
  open(args: readonly string[]): Promise<Terminal>;
}

async function place(configuration = ""): Promise<Place> {
  const { path } = await agentFolder();
  leavesNoProcess(5_000);
  const [workspace, home, state] = [join(path, "workspace"), join(path, "home"), join(path, "state")];
  await Promise.all([workspace, home, state].map((folder) => mkdir(folder)));
  await writeFile(join(state, "config.toml"), configuration);
  const given = Object.entries({ ...process.env, ...plainEnvironment(state), HOME: home, LANG: "C.UTF-8" });
  const env = Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const open = (args: readonly string[]) =>
    Terminal.start({ command: [process.execPath, FLINT, ...args], cwd: workspace, env, folder: path });
  return { workspace, state, open };
}

const sees = (text: string) => (everything: string) => everything.includes(text);

/** Presses a key until it counts: one that comes too soon after a question was not meant for it. */
async function answer(terminal: Terminal, key: string, shown: string): Promise<void> {
  for (let count = 0; count < 20; count += 1) {
    await terminal.type(key);
    if (await terminal.matchesWithin(sees(shown), 1_500)) return;
  }
  await terminal.until(sees(shown), shown);
}

/** Stops the server that the session has started in the background, if it did. */
async function stopServer(state: string): Promise<void> {
  const file = join(state, "run", "server.json");
  if (existsSync(file)) process.kill(JSON.parse(await readFile(file, "utf8")).pid, "SIGTERM");
}

async function quit(terminal: Terminal): Promise<void> {
  await terminal.press("C-d");
  expect(await terminal.exitCode()).toBe(0);
}

for (const scripted of SCRIPTED_AGENTS) {
  const needed = ["tmux", ...(scripted.program === undefined ? [] : [scripted.program])] as const;
  needs(...needed)(
    `a session with ${scripted.agent}: approve, decline with words, go back with the files, and quit [S0-1]`,
    () => story(scripted),
    TEST_MS,
  );
}

async function story(scripted: ScriptedAgent): Promise<void> {
  const { options, configuration } = choosing(scripted);
  const { workspace, state, open } = await place(configuration);
  onTestFinished(() => stopServer(state));
  const terminal = await open(options);
  await terminal.until(sees("Ask for something"), "the composer");
  await terminal.type("run `touch made.txt`");
  await terminal.press("Enter");
  await terminal.until(sees("[y] once"), "the approval");
  expect(existsSync(join(workspace, "made.txt"))).toBe(false);
  await answer(terminal, "y", "allowed once");
  await terminal.until((screen) => /Ask for something/.test(screen), "the end of the turn");
  expect(existsSync(join(workspace, "made.txt"))).toBe(true);

  await terminal.type("run `touch other.txt`");
  await terminal.press("Enter");
  await terminal.until((screen) => screen.split("[y] once").length >= 2, "the second approval");
  await answer(terminal, "m", "What should the agent do instead?");
  await terminal.type("not in this folder");
  await terminal.press("Enter");
  await terminal.until(sees("declined"), "the refusal");
  await terminal.until((screen) => /Ask for something/.test(screen), "the end of the second turn");
  expect(existsSync(join(workspace, "other.txt"))).toBe(false);

  await terminal.press("Escape");
  await terminal.until(sees("Press Esc again"), "the hint");
  await terminal.press("Escape");
  await terminal.until(sees("Go back to before which prompt?"), "the prompts");
  await terminal.press("Down", "Enter");
  await terminal.until(sees("Keep the files as they are"), "what to do with the files");
  await terminal.press("Down", "Enter");
  await terminal.until(sees("2 turns removed, files restored"), "the rewind");
  expect(existsSync(join(workspace, "made.txt"))).toBe(false);
  await terminal.press("C-c");
  await quit(terminal);
}

needs("tmux", "claude")(
  "another agent continues a thread, and the boundary is drawn",
  async () => {
    const claude = SCRIPTED_AGENTS.find(({ agent }) => agent === "claude");
    const { options, configuration } = choosing(claude ?? SCRIPTED_AGENTS[0] ?? never());
    const { state, open } = await place(configuration);
    onTestFinished(() => stopServer(state));
    const terminal = await open([...options, "what is in this folder?"]);
    await terminal.until(sees("› what is in this folder?"), "the prompt");
    await terminal.until(sees("Ask for something"), "the end of the turn");
    await terminal.type("/agent flint");
    await terminal.press("Enter");
    await terminal.until(sees("flint continues from the next turn on"), "the switch");
    await terminal.type("count to 3");
    await terminal.press("Enter");
    await terminal.until(sees("flint continues in place of claude"), "the boundary");
    await quit(terminal);
  },
  TEST_MS,
);

needs("tmux")(
  "a thread is live for other clients, goes on without the terminal, and is resumed",
  async () => {
    const { workspace, state, open } = await place();
    const terminal = await open([]);
    // What is typed while the session starts is not lost.
    await terminal.until((screen) => /Starting|Ask for something/.test(screen), "the first frame");
    await terminal.type("run `touch shared.txt`");
    await terminal.until(sees("› run `touch shared.txt`"), "what was typed");
    await terminal.until(sees("F1 for help"), "the server");
    await terminal.press("Enter");
    await terminal.until(sees("[y] once"), "the approval");
    const other = await connect({ home: state, onApproval: () => "accept" });
    try {
      const { data } = await other.listThreads();
      const [thread] = data;
      if (thread === undefined) throw new Error("The thread is not listed.");
      await other.attachThread(thread.id);
      await terminal.until(sees("(answered in "), "who answered");
      await terminal.until(sees("Ask for something"), "the end of the turn");
      expect(existsSync(join(workspace, "shared.txt"))).toBe(true);
      await quit(terminal);
      const again = await open(["resume", "--last"]);
      await again.until(sees("run `touch shared.txt`"), "the resumed thread");
      await again.type("draft to keep");
      await again.until(sees("draft to keep"), "the draft");
      await again.press("C-c");
      await quit(again);
    } finally {
      await other.close();
      await stopServer(state);
    }
  },
  TEST_MS,
);

needs("tmux")("a mistake on the command line leaves nothing but its message", async () => {
  const { open } = await place();
  const terminal = await open(["--agent", "nobody"]);
  expect(await terminal.exitCode()).toBe(2);
  expect(await terminal.everything()).toMatch(
    /^flint: No agent nobody\..*\nRun "flint --help" for usage\.\n\[exit/,
  );
});

function never(): never {
  throw new Error("There are scripted agents.");
}
