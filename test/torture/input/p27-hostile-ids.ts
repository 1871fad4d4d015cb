import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TortureCase } from "../case.ts";
import { METHOD_NAMES, withEachIdReplaced } from "../every-method.ts";
import { count, none } from "../figures.ts";
import { pathsBelow } from "../log-files.ts";

const INVALID_PARAMS = -32602;

/** Gives ids that are paths to every method that takes an id. */
export const hostileIds: TortureCase = {
  id: "P27",
  title: "a thread id that is not a plain name is refused by every method and touches no file",
  async run(context) {
    const around = await context.folder();
    const home = join(around, "home");
    const first = await context.start({ kind: "flint", home });
    await first.expectAlive(context.patience);
    await first.stop();
    const server = await context.start({ kind: "flint", home, args: ["--alone"] });
    const baits = [join(around, "x"), join(home, "x"), join(home, "threads/a/b")];
    for (const bait of baits) layBait(join(bait, "events.jsonl"));
    const before = fingerprint(around);
    const requests = METHOD_NAMES.flatMap((method) =>
      hostile(around).flatMap((id) => withEachIdReplaced(method, id).map((params) => ({ method, params }))),
    );
    let accepted = 0;
    for (const { method, params } of requests) {
      const refusal = await server.wire.request(method, params).catch((error: { code?: unknown }) => error);
      const code: unknown =
        typeof refusal === "object" && refusal !== null ? Reflect.get(refusal, "code") : undefined;
      if (code !== INVALID_PARAMS) accepted += 1;
    }
    const after = fingerprint(around);
    assert.deepEqual(after, before, "no file was touched");
    await server.expectAlive(context.patience);
    return [count("requests", requests.length), none("not refused", accepted)];
  },
};

function hostile(around: string): string[] {
  return [
    "..",
    ".",
    "../x",
    "../../x",
    join(around, "x"),
    "a/b",
    "a\\b",
    "a\0b",
    "x".repeat(10_000),
    "%2e%2e",
    "%2e%2e%2fx",
    "",
    " ",
    "..\n",
  ];
}

function layBait(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{"flint":"thread-log","version":1,"epoch":"e","threadId":"x","createdAtMs":0}\n');
}

/** Every path with what would change if it were written, renamed or given another mode. */
function fingerprint(folder: string): Record<string, string> {
  const entries = pathsBelow(folder).map((path): [string, string] => {
    const stats = lstatSync(path);
    const content = stats.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
    return [path, `${stats.ino} ${stats.mode} ${stats.mtimeMs} ${stats.ctimeMs} ${content}`];
  });
  return Object.fromEntries(entries.sort());
}
