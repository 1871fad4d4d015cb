import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT } from "./source/files.ts";

interface Program {
  load(name: string): { readonly greet: () => string };
  keepCompiled(): void;
  readonly taken: readonly string[];
  readonly compiled: readonly string[];
}

const DIST = join(ROOT, "packages/cli/dist");
const LAUNCHER = join(ROOT, "packages/cli/bin/compiled-program.cjs");
// A file that is shipped as it is written has no types to import.
const { CompiledProgram } = createRequire(import.meta.url)(LAUNCHER) as {
  readonly CompiledProgram: new (folder: string) => Program;
};

const START = `
  const { CompiledProgram } = require(process.argv[1]);
  const program = new CompiledProgram(process.argv[2]);
  const greeting = program.load("greeting.cjs").greet();
  process.stdout.write(JSON.stringify({ taken: program.taken, greeting }));
`;
const GREETING = 'const { name } = require("./chunks/name.cjs");\nexports.greet = () => "hello " + name;\n';

let folder: TemporaryFolder;

beforeEach(async () => {
  folder = await temporaryFolder();
  mkdirSync(folder.join("chunks"));
  writeFileSync(folder.join("greeting.cjs"), GREETING);
  writeFileSync(folder.join("chunks/name.cjs"), 'exports.name = require("node:path").basename("/to/you");\n');
});

afterEach(() => folder.remove());

describe("what was compiled when the command was built", () => {
  test("is taken instead of compiling again", () => {
    compile();
    expect(start()).toEqual({ taken: ["greeting.cjs", "chunks/name.cjs"], greeting: "hello you" });
  });

  test("may be missing", () => {
    expect(start()).toEqual({ taken: [], greeting: "hello you" });
  });

  test("is not taken for code that was changed since, though it has the same length", () => {
    compile();
    writeFileSync(folder.join("greeting.cjs"), GREETING.replace("hello", "howdy"));
    expect(start()).toEqual({ taken: ["chunks/name.cjs"], greeting: "howdy you" });
  });

  test.each([
    ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ["empty", () => Buffer.alloc(0)],
    [
      "damaged",
      (bytes: Buffer) => Buffer.from(bytes.map((byte, place) => (place === 300 ? byte ^ 1 : byte))),
    ],
  ])("is not taken when it is %s", (_what, spoil) => {
    compile();
    const path = compiledFile("greeting.cjs.bin");
    writeFileSync(path, spoil(readFileSync(path)));
    expect(start()).toEqual({ taken: ["chunks/name.cjs"], greeting: "hello you" });
  });

  test("does not reveal the path it was compiled in", () => {
    writeFileSync(
      folder.join("greeting.cjs"),
      'exports.greet = () => new Error().stack.split("\\n")[1].trim();',
    );
    compile();
    const greeting = expect.stringContaining("(flint/dist/greeting.cjs:1:");
    expect(start()).toEqual({ taken: ["greeting.cjs"], greeting });
  });

  test("is not taken by a Node with other flags", () => {
    compile();
    expect(start("--no-opt")).toEqual({ taken: [], greeting: "hello you" });
  });

  test("is there for everything that a start of the built command loads", () => {
    const program = new CompiledProgram(DIST);
    program.load("flint.cjs");
    expect(program.taken).toContain("flint.cjs");
    expect(program.compiled).toEqual([]);
  });
});

test("to load the command takes no part of Node that only some commands need", () => {
  const load = `
    const { CompiledProgram } = require(process.argv[1]);
    new CompiledProgram(process.argv[2]).load("flint.cjs");
    const loaded = process.moduleLoadList.join();
    process.stdout.write(loaded);
  `;
  const { stdout } = spawnSync(process.execPath, ["-e", load, LAUNCHER, DIST], { encoding: "utf8" });
  const loaded = stdout.split(",").map((name) => name.replace("NativeModule ", ""));
  expect(loaded).toContain("zlib");
  expect(loaded.filter((name) => ["child_process", "crypto", "http", "net"].includes(name))).toEqual([]);
});

test("a file that could not be loaded is tried again", () => {
  const program = new CompiledProgram(folder.path);
  expect(() => program.load("later.cjs")).toThrow("ENOENT");
  writeFileSync(folder.join("later.cjs"), 'exports.greet = () => "at last";');
  expect(program.load("later.cjs").greet()).toBe("at last");
});

function compile(): void {
  const program = new CompiledProgram(folder.path);
  program.load("greeting.cjs").greet();
  program.keepCompiled();
}

/** In a process of its own: within one, V8 remembers what it has compiled. */
function start(...flags: readonly string[]): unknown {
  const { stdout } = spawnSync(process.execPath, [...flags, "-e", START, LAUNCHER, folder.path], {
    encoding: "utf8",
  });
  return JSON.parse(stdout);
}

function compiledFile(name: string): string {
  const files = readdirSync(folder.join("compiled"), { recursive: true, encoding: "utf8" });
  const found = files.find((path) => path.endsWith(name));
  if (found === undefined) throw new Error(`There is no ${name} among ${files.join(", ")}.`);
  return folder.join("compiled", found);
}
