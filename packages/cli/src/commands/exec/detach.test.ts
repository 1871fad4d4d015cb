import { expect, test } from "vitest";
import { UsageError } from "../../command-line/command.ts";
import { checkDetached } from "./detach.ts";

test.each([
  { resume: "last" },
  { continue: true },
  { image: ["a.png"] },
  { "output-schema": "a.json" },
  { "output-last-message": "a.txt" },
  { ephemeral: true },
  { quiet: true },
])("a detached turn cannot be used with %j", (values) => {
  const [name = ""] = Object.keys(values);
  expect(() => checkDetached(values)).toThrow(new UsageError(`--detach cannot be used with --${name}.`));
});

test("a detached turn takes the options of its task", () => {
  checkDetached({ detach: true, json: true, model: "claude/opus", "max-cost": "2", quiet: false });
});
