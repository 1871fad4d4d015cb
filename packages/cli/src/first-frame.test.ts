import { expect, test } from "vitest";
import { canDrawFirstFrame } from "./first-frame.ts";

test.each([
  { args: [] },
  { args: ["fix the failing test"] },
  { args: ["--agent", "claude"] },
  { args: ["resume"] },
  { args: ["resume", "--last"] },
])("flint $args draws its first frame before it is loaded", ({ args }) => {
  expect(canDrawFirstFrame(args)).toBe(true);
});

test.each([
  { args: ["exec", "fix the failing test"] },
  { args: ["-p", "what is this?"] },
  { args: ["--agent", "claude", "--print", "what is this?"] },
  { args: ["--help"] },
  { args: ["--version"] },
  { args: ["resume", "--help"] },
  { args: ["--yolo"] },
  { args: ["--permissions=full-access"] },
  { args: ["--screen", "plain"] },
  { args: ["-C", "elsewhere"] },
  { args: ["threads"] },
])("flint $args draws nothing before it is loaded", ({ args }) => {
  expect(canDrawFirstFrame(args)).toBe(false);
});
