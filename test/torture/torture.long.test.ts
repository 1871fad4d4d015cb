import { leavesNoProcess } from "@flint/testkit";
import { beforeAll, expect, test } from "vitest";
import { buildPrograms } from "../server/build.ts";
import { QUICK_CASES } from "./cases.ts";
import { runCase } from "./run-case.ts";

beforeAll(async () => {
  await buildPrograms();
});

for (const torture of QUICK_CASES) {
  test(`${torture.title} [${torture.id}]`, async ({ skip }) => {
    leavesNoProcess();
    const { result, reasons } = await runCase(torture, true);
    skip(result === "skipped", reasons.join("; "));
    expect(reasons).toEqual([]);
  });
}
