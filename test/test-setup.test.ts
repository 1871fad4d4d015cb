import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "./source/files.ts";

const WORKS = "#!/bin/sh\nexit 0\n";
const BROKEN = "#!/bin/sh\necho no namespaces here\nexit 1\n";

/** Runs a copy of the setup that sees only the given programs, and keeps its findings to itself. */
function setUp(programs: Record<string, string>, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "flint-setup-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(bin, name), text, { mode: 0o755 });
  cpSync(join(ROOT, "scripts"), join(folder, "scripts"), { recursive: true });
  const result = spawnSync(process.execPath, [join(folder, "scripts/test-setup.mjs")], {
    encoding: "utf8",
    env: { PATH: bin, ...environment },
  });
  const lines = `${result.stdout}${result.stderr}`.replaceAll(`${bin}/`, "").trim().split("\n");
  return { code: result.status, lines, found: () => readFound(folder) };
}

function readFound(folder: string): string[] {
  const text = readFileSync(join(folder, "node_modules/.cache/flint/found.json"), "utf8");
  return Object.keys(JSON.parse(text));
}

test("a program that works is reported and written down for the tests", () => {
  const { code, lines, found } = setUp({ bwrap: WORKS });
  expect({ code, lines }).toEqual({ code: 0, lines: ["ok bwrap bwrap (on PATH, trial run passed)"] });
  expect(found()).toEqual(["bwrap"]);
});

test("a missing program is skipped loudly, with the way to get it", () => {
  const { code, lines, found } = setUp({});
  expect(lines).toEqual([
    "SKIP bwrap its tests will be skipped (not found): apt-get install bubblewrap, and allow user namespaces",
  ]);
  expect({ code, found: found() }).toEqual({ code: 0, found: [] });
});

test("a program that is there but does not work counts as missing", () => {
  const { lines, found } = setUp({ bwrap: BROKEN });
  expect(lines.join()).toContain("bwrap is there but cannot make a sandbox: no namespaces here");
  expect(found()).toEqual([]);
});

test("a gap in what is required is an error", () => {
  const { code, lines } = setUp({ bwrap: BROKEN }, { FLINT_TEST_REQUIRE: "bwrap" });
  expect(code).toBe(1);
  expect(lines.at(-1)).toBe("test setup: FLINT_TEST_REQUIRE names bwrap, which could not be provided");
});

test("a name that means nothing is an error, so that a slip cannot hide a gap", () => {
  const { code, lines } = setUp({ bwrap: WORKS }, { FLINT_TEST_REQUIRE: "bwarp" });
  expect(code).toBe(1);
  expect(lines).toEqual([
    "test setup: unknown part bwarp; known are bwrap, redis, chromium, node24, codex, claude, codex-acp, claude-agent-acp, acpx, codex-sdk, tmux",
  ]);
});

test("large agents are looked for when named and never fetched unless asked for", () => {
  const { code, lines } = setUp({ bwrap: WORKS }, { FLINT_TEST_PARTS: "claude,codex" });
  expect(code).toBe(0);
  expect(lines.slice(1)).toEqual([
    "SKIP codex its tests will be skipped (not found): put codex on PATH, or set FLINT_TEST_AGENTS=1",
    "SKIP claude its tests will be skipped (not found): put claude on PATH, or set FLINT_TEST_AGENTS=1",
  ]);
});

test("the address of a Redis is never shown", () => {
  const { lines } = setUp(
    { bwrap: WORKS },
    { FLINT_TEST_PARTS: "redis", REDIS_URL: "redis://user:secret@host" },
  );
  expect(lines.at(-1)).toBe("ok redis REDIS_URL (from the environment)");
});
