import { existsSync } from "node:fs";
import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { commitWork, NAME, SANDBOX, setUpRepository } from "./testing/worktree-fixture.ts";
import { TurnCommits } from "./turn-commit.ts";

const confined = needs("bwrap", "git");

/** Does what `git lfs clean` does: stores the content by its hash and prints a pointer; pointers stay as they are. */
const CLEAN = `#!/bin/sh
file=$(mktemp); cat > "$file"
if head -n 1 "$file" | grep -q git-lfs; then cat "$file"; exit; fi
id=$(sha256sum "$file" | cut -c 1-64)
storage=$(git config lfs.storage || echo "$(git rev-parse --absolute-git-dir)/lfs")
folder="$storage/objects/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-4)"
mkdir -p "$folder" && cp "$file" "$folder/$id" || exit 1
printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' "$id" "$(wc -c < "$file")"
`;

/** A repository whose file big.bin is kept by a filter as that of Git LFS. */
async function setUp() {
  const setup = await setUpRepository();
  const { home, cwd, git } = setup;
  const clean = home.join("clean");
  await writeFile(clean, CLEAN, { mode: 0o755 });
  await git("config", "filter.lfs.clean", clean);
  await git("config", "filter.lfs.smudge", "cat");
  await git("config", "filter.lfs.required", "true");
  await writeFile(join(cwd, ".gitattributes"), "*.bin filter=lfs\n");
  await writeFile(join(cwd, "big.bin"), "large content\n", { mode: 0o755 });
  await git("add", ".");
  await git("commit", "-q", "-m", "with Git LFS");
  expect(await git("show", "HEAD:big.bin")).toContain("oid sha256:");
  return { ...setup, clean, pointer: await git("show", "HEAD:big.bin") };
}

describe("the files of Git LFS in a worktree", () => {
  confined("are real, and are committed as pointers again", async () => {
    const setup = await setUp();
    const { worktrees, cwd, git, pointer } = setup;
    const worktree = await worktrees.prepare({ ...NAME, cwd });
    expect(await readFile(join(worktree.top, "big.bin"), "utf8")).toBe("large content\n");
    expect((await stat(join(worktree.top, "big.bin"))).mode & 0o777).toBe(0o755);
    await writeFile(join(worktree.top, "new.bin"), "made by an agent\n");
    const { made } = await commitWork(setup, "x\n");
    expect(await git("diff", "--name-status", worktree.base, made.commit)).toBe("A\tb.txt\nA\tnew.bin");
    expect(await git("show", `${made.commit}:big.bin`)).toBe(pointer);
    expect(await git("show", `${made.commit}:new.bin`)).toContain("oid sha256:");
    // What is checked before the merge, in another folder.
    const merged = await worktrees.checkOut(NAME, "merge", worktree.repository, made.commit);
    expect(await readFile(join(merged, "new.bin"), "utf8")).toBe("made by an agent\n");
    expect(existsSync(join(worktree.top, "../scratch/lfs"))).toBe(false);
    const commits = new TurnCommits(worktrees, SANDBOX);
    expect(await commits.isCommitted(NAME, worktree)).toBe(true);
  });

  confined("stay pointers if the repository lacks their content, and that is said", async () => {
    const { worktrees, cwd, pointer } = await setUp();
    const id = /sha256:(\w+)/.exec(pointer)?.[1] ?? "";
    await rm(join(cwd, ".git/lfs/objects", id.slice(0, 2), id.slice(2, 4), id));
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect((await readFile(join(top, "big.bin"), "utf8")).trim()).toBe(pointer);
    expect(await worktrees.notices(NAME)).toEqual([
      "Files of Git LFS that are pointers, because the repository lacks their content: 1. Run git lfs fetch.",
    ]);
  });

  confined("stay pointers if the filter is not there, so that nothing looks changed", async () => {
    const { worktrees, cwd, git, pointer, clean } = await setUp();
    for (const key of ["clean", "smudge"]) await git("config", "--unset", `filter.lfs.${key}`);
    await git("config", "--unset", "filter.lfs.required");
    await chmod(clean, 0);
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect((await readFile(join(top, "big.bin"), "utf8")).trim()).toBe(pointer);
    expect(await worktrees.notices(NAME)).toEqual([expect.stringContaining("Run git lfs install")]);
  });

  confined("are written through no link that the filter puts in their place", async () => {
    const { worktrees, home, cwd, pointer, clean } = await setUp();
    await writeFile(home.join("mine"), "mine\n");
    const swap = `rm big.bin && ln -s ${home.join("mine")} big.bin && touch ran`;
    await writeFile(clean, `#!/bin/sh\ncat > /dev/null; ${swap}; echo other\n`);
    const { top } = await worktrees.prepare({ ...NAME, cwd });
    expect(existsSync(join(top, "ran"))).toBe(true);
    expect(await readFile(home.join("mine"), "utf8")).toBe("mine\n");
    expect((await readFile(join(top, "big.bin"), "utf8")).trim()).toBe(pointer);
  });
});
