import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { ProgressReporter } from "./mcp-call.ts";

test("emits each progress message once", () => {
  const emitted: string[] = [];
  const report = new ProgressReporter(new TestClock(), (message) => emitted.push(message));
  report.report({ progress: 1 });
  report.report({ progress: 1 });
  report.report({ progress: 2, total: 4, message: "half\u001b[2J" });
  expect(emitted).toEqual(["1", "2/4 half"]);
});

test("throttles progress to one message per second", async () => {
  const clock = new TestClock();
  const emitted: string[] = [];
  const report = new ProgressReporter(clock, (message) => emitted.push(message));
  for (let progress = 0; progress < 10_000; progress += 1)
    report.report({ progress, message: "x".repeat(9999) });
  expect(emitted).toHaveLength(100);
  expect(emitted[0]).toHaveLength(500);
  await clock.advance(1000);
  for (let progress = 0; progress < 10; progress += 1) report.report({ progress });
  expect(emitted).toHaveLength(101);
});
