import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ReviewTarget } from "@flint/protocol";
import { FakeSandbox, needs, type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/call-tool.ts";
import { BackgroundCommands } from "./background.ts";
import { isReviewCommand, reviewCommands } from "./review-commands.ts";
import { shellTool } from "./shell.ts";

const [NEW_FILES = "", CHANGES = ""] = reviewCommands();
const BRANCH: ReviewTarget = { type: "baseBranch", branch: "main" };
const COMMIT: ReviewTarget = { type: "commit", sha: "abc" };

test("only the very commands of a review are known, for what the user wants reviewed", () => {
  expect([NEW_FILES, CHANGES].map((command) => isReviewCommand(command, undefined))).toEqual([true, true]);
  for (const target of [BRANCH, COMMIT]) {
    const [command = ""] = reviewCommands(target);
    expect([target, undefined].map((wanted) => isReviewCommand(command, wanted))).toEqual([true, false]);
  }
});

test.each([
  `${CHANGES} `,
  `${CHANGES} --output=x`,
  `${CHANGES} --ext-diff`,
  `${CHANGES} --textconv`,
  `${CHANGES} -Ox`,
  `${CHANGES}; touch made`,
  CHANGES.replace("core.fsmonitor=false", "core.fsmonitor=./x"),
  CHANGES.replace("core.fsmonitor=false", "diff.external=./x"),
  CHANGES.replace("core.fsmonitor=false", "core.fsmonitor=false -c alias.diff=!x"),
  CHANGES.replace("--no-pager", "--paginate"),
  CHANGES.replace("--no-ext-diff ", ""),
  CHANGES.replace("--no-textconv ", ""),
  CHANGES.replace("HEAD", "HEAD~1"),
  CHANGES.replace("git", "./git"),
  NEW_FILES.replace("--others", "--others --recurse-submodules"),
])("%s is none of them", (command) => {
  expect([undefined, BRANCH, COMMIT].filter((target) => isReviewCommand(command, target))).toEqual([]);
});

/** A repository whose own configuration names a program for everything that git would run one for. */
async function hostileRepository(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  const git = (...args: readonly string[]) => promisify(execFile)("git", args, { cwd: folder.path });
  await git("init", "--quiet");
  await writeFile(folder.join("notes.txt"), "one\n");
  await git("add", ".");
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  await git(...author, "commit", "--quiet", "-m", "first");
  const evil = folder.join("evil.sh");
  await writeFile(evil, `#!/bin/sh\ntouch '${folder.path}/made'\necho ran >&2\ncat\n`);
  await chmod(evil, 0o755);
  const programs = ["filter.x.clean", "diff.external", "diff.x.command", "diff.x.textconv", "core.fsmonitor"];
  for (const name of [...programs, "core.pager"]) await git("config", name, evil);
  await mkdir(folder.join(".git/info"), { recursive: true });
  await writeFile(folder.join(".git/info/attributes"), "* filter=x diff=x\n");
  await writeFile(folder.join("notes.txt"), "one\ntwo\n");
  return folder;
}

needs("namespaces")(
  "a review shows the changes of a hostile repository, whose programs can do nothing",
  async () => {
    const folder = await hostileRepository();
    const sandbox = new CommandSandbox({ environment: process.env });
    const shell = shellTool(new BackgroundCommands());
    for (const command of [NEW_FILES, CHANGES]) {
      const { turn, text } = await callTool(shell, { command }, folder, { sandbox });
      expect(turn.promises).toEqual([{ onlyReads: true }]);
      expect(text).toContain(command === CHANGES ? "+two" : "evil.sh");
    }
    expect(existsSync(folder.join("made"))).toBe(false);
    // Shows that one of them would have done something.
    const { turn } = await callTool(shell, { command: `${CHANGES} --` }, folder, { sandbox });
    expect(turn.promises).toEqual([{}]);
    expect(existsSync(folder.join("made"))).toBe(true);
  },
);

test("where nothing can be confined, a review promises nothing and is asked about as anything else", async () => {
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [] });
  const folder = await temporaryFolder();
  const wishes = { sandbox, decide: () => "deny" as const };
  const { turn, status } = await callTool(
    shellTool(new BackgroundCommands()),
    { command: CHANGES },
    folder,
    wishes,
  );
  expect([turn.promises, status]).toEqual([[{}], "declined"]);
});

test("one that is to go on in the background promises nothing either: nobody waits for what it shows", async () => {
  const folder = await temporaryFolder();
  const wishes = { sandbox: new FakeSandbox(), decide: () => "deny" as const };
  const wish = { command: CHANGES, background: true };
  const { turn } = await callTool(shellTool(new BackgroundCommands()), wish, folder, wishes);
  expect(turn.promises).toEqual([{}]);
});

test("where even the simplest command fails in the sandbox, a review promises nothing", async () => {
  const sandbox = new FakeSandbox();
  sandbox.play = async () => ({ exitCode: 1, durationMs: 0, ended: "exited" });
  const wishes = { sandbox, decide: () => "deny" as const };
  const shell = shellTool(new BackgroundCommands());
  const { turn } = await callTool(shell, { command: CHANGES }, await temporaryFolder(), wishes);
  expect(turn.promises).toEqual([{}]);
});
