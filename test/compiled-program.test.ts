import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT } from "./source/files.ts";

interface Program {
  load(name: string): { readonly greet: () => string };
  writeCache(): void;
  readonly cached: readonly string[];
  readonly compiled: readonly string[];
}

const DIST = join(ROOT, "packages/cli/dist");
const LAUNCHER = join(ROOT, "packages/cli/bin/compiled-program.cjs");
// It is published as written, without types.
const { CompiledProgram } = createRequire(import.meta.url)(LAUNCHER) as {
  readonly CompiledProgram: new (folder: string) => Program;
};

const START = `
  const { CompiledProgram } = require(process.argv[1]);
  const program = new CompiledProgram(process.argv[2]);
  const greeting = program.load("greeting.cjs").greet();
  process.stdout.write(JSON.stringify({ cached: program.cached, greeting }));
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

describe("the code cache of the built command", () => {
  test("is used instead of compiling again", () => {
    compile();
    expect(start()).toEqual({ cached: ["greeting.cjs", "chunks/name.cjs"], greeting: "hello you" });
  });

  test("may be missing", () => {
    expect(start()).toEqual({ cached: [], greeting: "hello you" });
  });

  test("is not used for code that has changed, even if the length is the same", () => {
    compile();
    writeFileSync(folder.join("greeting.cjs"), GREETING.replace("hello", "howdy"));
    expect(start()).toEqual({ cached: ["chunks/name.cjs"], greeting: "howdy you" });
  });

  test.each([
    ["truncated", (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ["empty", () => Buffer.alloc(0)],
    [
      "damaged",
      (bytes: Buffer) => Buffer.from(bytes.map((byte, index) => (index === 300 ? byte ^ 1 : byte))),
    ],
  ])("is not used when it is %s", (_what, damage) => {
    compile();
    const path = compiledFile("greeting.cjs.bin");
    writeFileSync(path, damage(readFileSync(path)));
    expect(start()).toEqual({ cached: ["chunks/name.cjs"], greeting: "hello you" });
  });

  test("does not contain the path it was compiled in", () => {
    writeFileSync(
      folder.join("greeting.cjs"),
      'exports.greet = () => new Error().stack.split("\\n")[1].trim();',
    );
    compile();
    const greeting = expect.stringContaining("(flint/dist/greeting.cjs:1:");
    expect(start()).toEqual({ cached: ["greeting.cjs"], greeting });
  });

  test("is not used by Node with other flags", () => {
    compile();
    expect(start("--no-opt")).toEqual({ cached: [], greeting: "hello you" });
  });

  test("covers everything that a start of the built command loads", () => {
    const program = new CompiledProgram(DIST);
    for (const name of ["first-frame.cjs", "flint.cjs"]) program.load(name);
    expect(program.cached).toEqual(expect.arrayContaining(["first-frame.cjs", "flint.cjs"]));
    expect(program.compiled).toEqual([]);
  });
});

test("the built command is ASCII, which V8 reads fastest", () => {
  const files = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".cjs"),
  );
  expect(files).toContain("flint.cjs");
  expect(files.filter((name) => readFileSync(join(DIST, name)).some((byte) => byte > 0x7f))).toEqual([]);
});

test("loading the command loads no module of Node that only some commands need", () => {
  const loaded = loadCommand("process.moduleLoadList.join()")
    .split(",")
    .map((name) => name.replace("NativeModule ", ""));
  expect(loaded).toContain("zlib");
  expect(loaded.filter((name) => ["child_process", "crypto", "http", "net"].includes(name))).toEqual([]);
});

test("loading the command builds few schemas: an object builds its fields on first use", () => {
  const built = loadCommand(
    "count",
    "let count = 0; globalThis.__zod_globalConfig = { postProcessor: () => { count += 1; } };",
  );
  expect(Number(built)).toBeGreaterThan(0);
  expect(Number(built)).toBeLessThan(450);
});

test("a turn that is not shown at a terminal loads neither the Markdown parser nor HTTP", () => {
  const { files, modules } = run(["exec", "--offline", "hello"]);
  expect(files.some((name) => name.includes("first-turn"))).toBe(true);
  const markdown = files.filter((name) => readFileSync(join(DIST, name), "utf8").includes("/marked/"));
  expect(markdown).toEqual([]);
  expect(modules.filter((name) => ["http", "https", "dns"].includes(name))).toEqual([]);
});

test("the listeners of a server load nothing of a turn", () => {
  const program = new CompiledProgram(DIST);
  const files = readdirSync(join(DIST, "chunks")).filter((name) =>
    /^(listening|sandbox)-.*\.cjs$/.test(name),
  );
  expect(files).toHaveLength(2);
  for (const name of files) program.load(`chunks/${name}`);
  const loaded = [...program.cached, ...program.compiled];
  expect(loaded).toContain("flint.cjs");
  expect(loaded.filter((name) => name.includes("first-turn"))).toEqual([]);
});

test("--version prints the version without loading the program", () => {
  mkdirSync(folder.join("bin"));
  copyFileSync(join(ROOT, "packages/cli/bin/flint.cjs"), folder.join("bin/flint.cjs"));
  writeFileSync(folder.join("package.json"), '{ "version": "1.2.3" }');
  for (const flag of ["--version", "-V"]) {
    const { stdout, status } = spawnSync(process.execPath, [folder.join("bin/flint.cjs"), flag]);
    expect([stdout.toString(), status]).toEqual(["1.2.3\n", 0]);
  }
});

test("a file that failed to load can be loaded again", () => {
  const program = new CompiledProgram(folder.path);
  expect(() => program.load("later.cjs")).toThrow("ENOENT");
  writeFileSync(folder.join("later.cjs"), 'exports.greet = () => "at last";');
  expect(program.load("later.cjs").greet()).toBe("at last");
});

/** In a new process: the value of an expression once the built command is loaded. */
function loadCommand(expression: string, before = ""): string {
  const load = `
    ${before}
    const { CompiledProgram } = require(process.argv[1]);
    new CompiledProgram(process.argv[2]).load("flint.cjs");
    const value = String(${expression});
    process.stdout.write(value);
  `;
  return spawnSync(process.execPath, ["-e", load, LAUNCHER, DIST], { encoding: "utf8" }).stdout;
}

/** In a new process: the files and the modules of Node that a run of the built command has loaded at its end. */
function run(args: readonly string[]) {
  const program = `
    const { CompiledProgram } = require(process.argv[1]);
    const [, , dist, ...args] = process.argv;
    const program = new CompiledProgram(dist);
    program.load("flint.cjs").main(args).then(() => {
      const files = [...program.cached, ...program.compiled];
      const modules = process.moduleLoadList.map((name) => name.replace("NativeModule ", ""));
      process.stderr.write("\\n" + JSON.stringify({ files, modules }), () => process.exit());
    });
  `;
  const env = { PATH: process.env.PATH, HOME: folder.path, FLINT_HOME: folder.join("state") };
  const child = ["-e", program, LAUNCHER, DIST, ...args];
  const { stderr } = spawnSync(process.execPath, child, { encoding: "utf8", cwd: folder.path, env });
  // Written by the program above.
  return JSON.parse(stderr.slice(stderr.lastIndexOf("\n"))) as Readonly<
    Record<"files" | "modules", string[]>
  >;
}

function compile(): void {
  const program = new CompiledProgram(folder.path);
  program.load("greeting.cjs").greet();
  program.writeCache();
}

/** In a new process: within one, V8 has its own cache. */
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
