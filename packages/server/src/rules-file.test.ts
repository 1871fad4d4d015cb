import { appendFile, stat, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { RulesFile } from "./rules-file.ts";

test("what was allowed for always is there in the next process, and only that", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("state", "rules.jsonl");
  const rules = new RulesFile(path);
  expect(rules.has("a")).toBe(false);
  rules.add("a");
  rules.add("a");
  const again = new RulesFile(path);
  expect([again.has("a"), again.has("a "), again.has("")]).toEqual([true, false, false]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a damaged line of the rules allows nothing and hides no other rule", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("rules.jsonl");
  new RulesFile(path).add("a");
  await appendFile(path, '{"not":"a rule"}\n"torn');
  const rules = new RulesFile(path);
  expect([rules.has("a"), rules.has("torn")]).toEqual([true, false]);
});

test("a rule after a torn line stands on a line of its own, in a file that is made private again", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("rules.jsonl");
  await writeFile(path, '"torn', { mode: 0o644 });
  new RulesFile(path).add("a");
  expect(new RulesFile(path).has("a")).toBe(true);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
