import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { needs, temporaryFolder } from "@flint/testkit";
import { expect } from "vitest";
import { ProcessTree } from "./process-tree.ts";

/** Returns the number of this process's descriptors that are open for a file. */
function openFor(file: string): number {
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    // Expected: the descriptor with which the folder itself was listed.
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false;
    }
  }).length;
}

needs("sh")("a program that cannot be started leaves its filter closed", async () => {
  const filterFile = (await temporaryFolder()).join("filter");
  writeFileSync(filterFile, "");
  const spec = {
    cwd: "/",
    environment: {},
    containment: "namespace",
    clock: SYSTEM_CLOCK,
    filterFile,
  } as const;
  expect(() => new ProcessTree({ ...spec, argv: ["true", "a\0b"] }, "ignore")).toThrow(/null bytes/);
  expect(openFor(filterFile)).toBe(0);
});
