import type { TaskSpec } from "@flint/protocol";
import { resolveSpec } from "../spec.ts";

/** A complete task for tests. */
export function testSpec(change: Partial<TaskSpec> = {}): TaskSpec {
  const spec = resolveSpec({
    prompt: "Port the config module",
    cwd: "/repo",
    executors: [{ model: "claude" }],
    reviewers: [{ model: "codex" }],
  });
  return { ...spec, ...change };
}
