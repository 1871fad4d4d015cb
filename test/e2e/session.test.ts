import { existsSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@flint/sdk";
import { needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { choosing, SCRIPTED_AGENTS } from "./scripted-agents.ts";
import { place, quit, sees, stopServer } from "./terminal/session-fixture.ts";
import { playSession } from "./terminal/session-story.ts";

const TEST_MS = 180_000;

/** A sequence that sets a colour. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it looks for
const COLOURED = /\u001b\[(?:[\d;]*;)?(?:3[0-7]|9[0-7])m/;

// The other agents play it in the long tests.
SCRIPTED_AGENTS.filter(({ program }) => program === undefined).forEach(playSession);

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
    expect(await terminal.matchesWithin(sees("Continue: flint resume "), 5_000)).toBe(true);
  },
  TEST_MS,
);

needs("tmux")(
  "keys, theme and status line of the configuration, and the screen of the command line, are in force",
  async () => {
    const keys = '[keys]\nshowHelp = "f4"\nclosePager = "z"\nquit = "f5"\n';
    const { state, open } = await place(`theme = "plain"\nstatus_line = ["folder", "help"]\n${keys}`);
    onTestFinished(() => stopServer(state));
    const terminal = await open(["--screen", "full"]);
    await terminal.until(sees("workspace · F4 for help"), "the status line");
    expect(await terminal.isAlternate()).toBe(true);
    expect((await terminal.picture()).join("\n")).not.toMatch(COLOURED);
    await terminal.press("F4");
    await terminal.until(sees("z close"), "the help page");
    await terminal.type("z");
    await terminal.until((screen) => !screen.includes("z close"), "the composer");
    await terminal.press("F5");
    expect(await terminal.exitCode()).toBe(0);
    expect(await terminal.isAlternate()).toBe(false);
  },
  TEST_MS,
);

needs("tmux")(
  "a thread is live for other clients, and is resumed",
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

needs("tmux")(
  "what is typed before a session has drawn anything is entered, and Ctrl-Z without a shell to go to leaves it open",
  async () => {
    const { state, open } = await place();
    onTestFinished(() => stopServer(state));
    const terminal = await open(["--offline"]);
    await terminal.type("count to 3");
    await terminal.press("Enter");
    await terminal.until(sees("1 2 3."), "the answer");
    await terminal.press("C-z");
    await terminal.type("still here");
    await terminal.until(sees("› still here"), "what was typed");
    await terminal.press("C-c");
    await quit(terminal);
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
