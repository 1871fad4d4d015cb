import { chmod, mkdir, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { FolderWalk } from "./folder-walk.ts";

test("leaves out the placeholders of sandboxes, and nothing that a user made under such a name", async () => {
  const { path: folder, join } = await temporaryFolder();
  for (const name of [".vscode", ".claude", ".cursor", "plain"]) await mkdir(join(name));
  await writeFile(join(".claude/settings.json"), "{}");
  // As a sandbox makes them.
  await chmod(join(".vscode"), 0o1700);
  await chmod(join("plain"), 0o1700);
  const walk = new FolderWalk({ folder, workspace: folder, signal: new AbortController().signal });
  const paths: string[] = [];
  for await (const { path } of walk.entries()) paths.push(path);
  expect(paths).toEqual([".claude", ".claude/settings.json", ".cursor", "plain"]);
});
