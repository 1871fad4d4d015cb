import { join } from "node:path";
import { CACHE, installNpm, isExecutable, onPath } from "./machine.mjs";

/**
 * A real agent, for the tests that are opted into. Their packages are some hundred megabytes each, so they
 * are fetched only when asked for by name.
 */
function agent(name, specifier, program) {
  const folder = join("agents", name);
  const copy = join(CACHE, folder, "node_modules", program);
  return {
    name,
    large: true,
    hint: `put ${name} on PATH, or set FLINT_TEST_AGENTS=1`,
    find() {
      const path = onPath(name);
      if (path !== undefined) return { path, how: "on PATH" };
      return isExecutable(copy) ? { path: copy, how: "private copy" } : undefined;
    },
    fetch: () => installNpm(folder, specifier),
  };
}

/** Anthropic's command line; without install scripts only the package of the platform holds a program. */
export const claude = agent(
  "claude",
  "@anthropic-ai/claude-code@2.1.197",
  `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
);

/** OpenAI's command line. */
export const codex = agent("codex", "@openai/codex@0.166.0", ".bin/codex");
