import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { ProgressReporter } from "./mcp-call.ts";

test("emits each progress message once", () => {
  const told: string[] = [];
  const report = new ProgressReporter(new TestClock(), (message) => told.push(message));
  report.report({ progress: 1 });
  report.report({ progress: 1 });
  report.report({ progress: 2, total: 4, message: "half\u001b[2J" });
  expect(told).toEqual(["1", "2/4 half"]);
});

test("throttles progress to one message per second", async () => {
  const clock = new TestClock();
  const told: string[] = [];
  const report = new ProgressReporter(clock, (message) => told.push(message));
  for (let progress = 0; progress < 10_000; progress += 1)
    report.report({ progress, message: "x".repeat(9999) });
  expect(told).toHaveLength(100);
  expect(told[0]).toHaveLength(500);
  await clock.advance(1000);
  for (let progress = 0; progress < 10; progress += 1) report.report({ progress });
  expect(told).toHaveLength(101);
});
