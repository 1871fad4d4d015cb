import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { lastMessageWriter } from "../../command-line/output-file.ts";

test("writes the last message to the file", async () => {
  const file = join((await temporaryFolder()).path, "answer.txt");
  lastMessageWriter(file)("done");
  expect(await readFile(file, "utf8")).toBe("done");
});

test("rejects a file that cannot be written before the turn starts", async () => {
  const folder = (await temporaryFolder()).path;
  expect(() => lastMessageWriter(folder)).toThrow("it is a folder. Name another file.");
  const missing = join(folder, "no", "answer.txt");
  expect(() => lastMessageWriter(missing)).toThrow(`the folder ${join(folder, "no")} does not exist`);
});
