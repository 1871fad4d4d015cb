import { describe, expect, test } from "vitest";
import { packageNames, ROOT, readSources } from "./source/files.ts";

/** A shorter file makes a reader open two where one would do, unless it is a seam. */
const SMALL = 35;
/** A longer file tells more than one story, unless it is a table. */
const LONG = 400;

/**
 * The purposes of small files: indexes, the ports of the core, the version that is filled in, and a file per
 * command.
 */
const ARE_SEAMS = [/\/index\.ts$/, /\/ports\//, /\/version\.ts$/, /^cli\/src\/commands\//];

const SEAMS = new Set([
  // Loaded alone, so that a start or a browser loads no more.
  ...["cli/src/command-line/opens-session.ts", "cli/src/command-line/shown-frame.ts"],
  ...["tui/src/terminal/cooked-input.ts", "sdk/src/browser.ts", "rpc/src/bytes.ts"],
  ...["host/src/files/folder-identity.ts", "agent/src/tools/shell/review-commands.ts"],
  "server/src/single-instance/claim.ts",
  // What two parts know of each other.
  ...[
    "agent/src/models/ai-sdk/language-model.ts",
    "tui/src/terminal/device.ts",
    "host/src/files/process-owner.ts",
  ],
  ...["tasks/src/run/run-observer.ts", "tasks/src/service/verify-task.ts", "tasks/src/store/stored-event.ts"],
  ...["tui/src/session/commands/command-context.ts", "tasks/src/queue/bull/concurrency-limit.ts"],
  // Parts that everything uses, below everything.
  ...["protocol/src/wire/short-text.ts", "protocol/src/wire/json-values.ts", "drivers/src/shared/json.ts"],
  ...["drivers/src/shared/history-text.ts", "frontends/src/shared/client-text.ts"],
  // The same files in each of several siblings.
  ...["drivers/src/codex/descriptor.ts", "drivers/src/claude/prompt.ts", "frontends/src/flint/frontend.ts"],
  ...["drivers/src/claude/denial-hook.ts", "protocol/src/methods/import.ts"],
]);

/** Small files that are no seams. Nothing is added here; a change to one moves it to where it is used. */
const LEFT = new Set([
  ...[
    "tasks/src/decide/finish.ts",
    "tasks/src/published/channel-message.ts",
    "tasks/src/service/clean-rules.ts",
  ],
  ...[
    "tasks/src/store/redis/script.ts",
    "host/src/files/disk-space.ts",
    "host/src/worktrees/changed-lines.ts",
  ],
  ...[
    "tui/src/input/editor/kill-ring.ts",
    "tui/src/pages/threads/pins.ts",
    "tui/src/session/status/header.ts",
  ],
  ...["tui/src/session/commands/search-history.ts", "tui/src/session/commands/server/add-task.ts"],
  ...["tui/src/session/other-clients/own-changes.ts", "tasks/src/run/run-usage.ts"],
]);

/** Long files: a table. */
const TABLES = new Set(["view/src/commands/session-commands.ts"]);

describe("the source files", () => {
  const sources = packageNames(ROOT).flatMap((name) => [...readSources(ROOT, `packages/${name}/src`)]);

  test("are small only where they are a seam", () => expect(small(sources)).toEqual([]));
  test("are long only where they are a table", () => expect(long(sources)).toEqual([]));
});

test("a file that is too small or too long is named, and tests do not count", () => {
  const file = (path: string, lines: number): [string, string] => [`packages/${path}`, "x\n".repeat(lines)];
  const files = [
    ...[
      file("a/src/b.ts", 34),
      file("a/src/c.ts", 35),
      file("a/src/index.ts", 1),
      file("a/src/b.test.ts", 9),
    ],
    ...[file("a/src/d.ts", 400), file("a/src/e.ts", 401), file("a/src/testing/f.ts", 5)],
  ];
  expect([small(files), long(files)]).toEqual([["a/src/b.ts: 34"], ["a/src/e.ts: 401"]]);
});

function small(sources: readonly (readonly [string, string])[]): string[] {
  return sizes(sources)
    .filter(({ path, lines }) => lines < SMALL && !SEAMS.has(path) && !LEFT.has(path))
    .filter(({ path }) => !ARE_SEAMS.some((seam) => seam.test(path)))
    .map(({ path, lines }) => `${path}: ${lines}`);
}

function long(sources: readonly (readonly [string, string])[]): string[] {
  return sizes(sources)
    .filter(({ path, lines }) => lines > LONG && !TABLES.has(path))
    .map(({ path, lines }) => `${path}: ${lines}`);
}

function sizes(sources: readonly (readonly [string, string])[]) {
  return sources
    .filter(([path]) => path.endsWith(".ts") && !/\.test\.ts$|\/(?:testing|fixtures)\//.test(path))
    .map(([path, text]) => ({ path: path.replace("packages/", ""), lines: text.split("\n").length - 1 }));
}
