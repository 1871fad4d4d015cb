import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../testing/fixture.ts";
import { createGranted } from "./granted-folders.ts";

test("creates a folder that was missing when it was allowed, with the folders around it", async () => {
  const folder = newFolder();
  await createGranted([join(folder, "new", "cache"), folder]);
  expect(existsSync(join(folder, "new", "cache"))).toBe(true);
});

test("does not create one again that existed when it was allowed", async () => {
  const path = join(newFolder(), "gone");
  await createGranted([path], { [path]: "1-2" });
  expect(existsSync(path)).toBe(false);
});

test("creates nothing through a link that was put there meanwhile", async () => {
  const [folder, elsewhere] = [newFolder(), newFolder()];
  symlinkSync(elsewhere, join(folder, "new"));
  await createGranted([join(folder, "new", "cache"), join(folder, "new", "deep", "cache")]);
  expect(existsSync(join(elsewhere, "cache")) || existsSync(join(elsewhere, "deep"))).toBe(false);
});
