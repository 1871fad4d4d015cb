import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ReviewTarget } from "@flint/protocol";
import { FakeSandbox, needs, type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/recorded-turn.ts";
import { BackgroundCommands } from "./background.ts";
import { isReviewCommand, reviewCommands } from "./review-commands.ts";
import { shellTool } from "./shell.ts";

const [NEW_FILES = "", CHANGES = ""] = reviewCommands();
const BRANCH: ReviewTarget = { type: "baseBranch", branch: "main" };
const COMMIT: ReviewTarget = { type: "commit", sha: "abc" };

test("recognizes only the exact commands of a review", () => {
  expect([NEW_FILES, CHANGES].map((command) => isReviewCommand(command, undefined))).toEqual([true, true]);
  for (const target of [BRANCH, COMMIT]) {
    const [command = ""] = reviewCommands(target);
    expect([target, undefined].map((requested) => isReviewCommand(command, requested))).toEqual([
      true,
      false,
    ]);
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
  "shows the changes of a hostile repository without letting its programs write",
  async () => {
    const folder = await hostileRepository();
    const sandbox = new CommandSandbox({ environment: process.env });
    const shell = shellTool(new BackgroundCommands());
    for (const command of [NEW_FILES, CHANGES]) {
      const { turn, text } = await callTool(shell, { command }, folder, { sandbox });
      expect(turn.guarantees).toEqual([{ onlyReads: true }]);
      expect(text).toContain(command === CHANGES ? "+two" : "evil.sh");
    }
    expect(existsSync(folder.join("made"))).toBe(false);
    // Shows that one of them would have done something.
    const { turn } = await callTool(shell, { command: `${CHANGES} --` }, folder, { sandbox });
    expect(turn.guarantees).toEqual([{}]);
    expect(existsSync(folder.join("made"))).toBe(true);
  },
);

test("guarantees nothing for a review without a sandbox", async () => {
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [] });
  const folder = await temporaryFolder();
  const options = { sandbox, decide: () => "deny" as const };
  const { turn, status } = await callTool(
    shellTool(new BackgroundCommands()),
    { command: CHANGES },
    folder,
    options,
  );
  expect([turn.guarantees, status]).toEqual([[{}], "declined"]);
});

test("does not guarantee reading for a review command in the background", async () => {
  const folder = await temporaryFolder();
  const options = { sandbox: new FakeSandbox(), decide: () => "deny" as const };
  const input = { command: CHANGES, background: true };
  const { turn } = await callTool(shellTool(new BackgroundCommands()), input, folder, options);
  expect(turn.guarantees).toEqual([{}]);
});

test("guarantees nothing for a review if the sandbox does not work", async () => {
  const sandbox = new FakeSandbox();
  sandbox.play = async () => ({ exitCode: 1, durationMs: 0, ended: "exited" });
  const options = { sandbox, decide: () => "deny" as const };
  const shell = shellTool(new BackgroundCommands());
  const { turn } = await callTool(shell, { command: CHANGES }, await temporaryFolder(), options);
  expect(turn.guarantees).toEqual([{}]);
});
