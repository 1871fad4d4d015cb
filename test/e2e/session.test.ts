import { existsSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@flint/sdk";
import { needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { choosing, SCRIPTED_AGENTS, type ScriptedAgent } from "./scripted-agents.ts";
import { answer, place, quit, sees, stopServer } from "./session-place.ts";

const TEST_MS = 180_000;

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
    expect(await terminal.matchesWithin(sees("Continue: flint resume "), 5_000)).toBe(true);
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
