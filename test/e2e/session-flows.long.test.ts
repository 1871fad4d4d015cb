import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import {
  commitAs,
  DECLINED_COMMAND,
  FILES,
  FLOWS,
  flowScript,
  localServer,
  OUTSIDE,
  TITLES,
  titlesIn,
} from "./permission-flows.ts";
import { choosing, SCRIPTED_AGENTS } from "./scripted-agents.ts";
import { place, quit, stopServer } from "./terminal/session-fixture.ts";
import type { Terminal } from "./terminal/tmux.ts";

/** Real agents are started, on a machine that may be busy. */
const TEST_MS = 180_000;
const COMPOSER = "Ask for something";

for (const scripted of SCRIPTED_AGENTS) {
  const { agent, program } = scripted;
  const parts = program === undefined ? [] : [program];
  needs(
    "tmux",
    "bwrap",
    "git",
    "curl",
    ...parts,
  )(
    `a session asks about commands of ${agent} that leave the sandbox, about hosts, commits and files`,
    async () => {
      const { port, paths } = await localServer();
      const { options, configuration } = choosing(scripted);
      const { workspace, state, open } = await place(configuration, flowScript(scripted, port));
      onTestFinished(() => stopServer(state));
      execFileSync("git", ["init", "--quiet", "--initial-branch=main"], { cwd: workspace });
      execFileSync("sh", ["-c", commitAs("first")], { cwd: workspace });
      const terminal = await open(options);
      await terminal.until((screen) => screen.includes(COMPOSER), "the composer");
      const host = `localhost (port ${port})`;
      const commits = (title: string) => `Apply 1 commit on main (${title})?`;

      await turn(terminal, FLOWS.allowedHost, "y", host);
      expect(await turn(terminal, FLOWS.declinedHost, "n", host)).toMatch(
        /⊘ localhost:\d+ .*The user declined it\./,
      );
      expect(paths).toEqual(["/allowed"]);
      await turn(terminal, FLOWS.declinedCommand, "n", DECLINED_COMMAND);
      expect(existsSync(join(workspace, "declined-command"))).toBe(false);

      await turn(terminal, FLOWS.allowedCommit, "y", commits(TITLES.allowed));
      expect(await titlesIn(workspace)).toEqual({ branch: `${TITLES.allowed}\nfirst\n`, kept: "" });
      await turn(terminal, FLOWS.declinedCommit, "n", commits(TITLES.declined));
      expect(await titlesIn(workspace)).toMatchObject({
        branch: `${TITLES.allowed}\nfirst\n`,
        kept: expect.stringMatching(new RegExp(`^${TITLES.declined}\n`)),
      });

      const folder = join(workspace, "..");
      const left = await turn(terminal, FLOWS.allowedLeave, "y", "Run this outside the sandbox");
      expect(left).toContain(OUTSIDE.why);
      expect(left).not.toContain("flint-run");
      expect(await readFile(join(folder, "count"), "utf8")).toBe("run\n");
      await turn(terminal, FLOWS.declinedLeave, "n", "Run this outside the sandbox");
      expect(existsSync(join(folder, "declined"))).toBe(false);

      await turn(terminal, FLOWS.allowedChange, "y", FILES.allowed);
      expect(await readFile(join(workspace, FILES.allowed), "utf8")).toBe("lantern\n");
      await turn(terminal, FLOWS.declinedChange, "n", FILES.declined);
      expect(existsSync(join(workspace, FILES.declined))).toBe(false);
      await quit(terminal);
    },
    TEST_MS,
  );
}

/**
 * Plays a turn of the script and answers the question about something with a key; everything else is allowed. Resolves with
 * what was to be seen of the turn at its end, and of its questions.
 */
async function turn(terminal: Terminal, prompt: string, key: string, about: string): Promise<string> {
  await terminal.type(prompt);
  await terminal.press("Enter");
  let [seen, isAnswered] = ["", false];
  const below = (everything: string) => everything.slice(everything.lastIndexOf(`› ${prompt}`));
  await terminal.until((screen) => below(screen) !== screen, prompt);
  for (;;) {
    await terminal.until(
      (screen) => /\[y\] once|Ask for something/.test(below(screen)),
      "a question or the end",
    );
    const now = below(await terminal.everything());
    seen += now;
    if (!now.includes("[y] once")) break;
    const isIt = now.slice(0, now.lastIndexOf("[y] once")).includes(about);
    isAnswered ||= isIt;
    const count = answers(now);
    // A key that comes too soon after a question was not meant for it.
    do await terminal.type(isIt ? key : "y");
    while (!(await terminal.matchesWithin((screen) => answers(below(screen)) > count, 1_000)));
  }
  expect(isAnswered, seen).toBe(true);
  return seen;
}

/** Returns the number of answered questions of a turn. */
function answers(turn: string): number {
  return [...turn.matchAll(/^→ /gm)].length;
}
