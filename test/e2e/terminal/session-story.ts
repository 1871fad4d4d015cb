import { existsSync } from "node:fs";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { choosing, type ScriptedAgent } from "../scripted-agents.ts";
import { answer, place, quit, sees, stopServer } from "./session-fixture.ts";

const TEST_MS = 180_000;

/** Declares the story of a session with an agent, played in a real terminal. */
export function playSession(scripted: ScriptedAgent): void {
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
  await terminal.until(sees("Rewind to before which prompt?"), "the prompts");
  await terminal.press("Down", "Enter");
  await terminal.until(sees("Keep the files as they are"), "what to do with the files");
  await terminal.press("Down", "Enter");
  await terminal.until(sees("2 turns removed, files restored"), "the rewind");
  expect(existsSync(join(workspace, "made.txt"))).toBe(false);
  await terminal.press("C-c");
  await quit(terminal);
}
