import { execFile } from "node:child_process";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs, type TemporaryFolder, temporaryFolder } from "@flint/testkit";
import { type ModuleFormat, type OutputChunk, rolldown } from "rolldown";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ReportingPage } from "./e2e/clients/browser.ts";
import { ServerFixture } from "./e2e/listening-server.ts";
import { ROOT } from "./source/files.ts";

const SLOW_MS = 120_000;
const INSTALL_OPTIONS = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];

/** A program of an SDK user. It compiles only if the declarations are there and have the right types. */
const PROGRAM = `
import { connect, type TurnResult } from "@flint/sdk";

const client = await connect({
  spawn: { command: "node_modules/.bin/flint", args: ["serve", "--stdio", "--offline"] },
  onApproval: async ({ action }) => (action.kind === "command" ? "accept" : "decline"),
});
const thread = await client.startThread({ cwd: process.cwd() });
const result: TurnResult = await thread.run("hello");
// @ts-expect-error The text of an answer is not a number.
const wrong: number = result.text;
const { data } = await client.methods["thread/list"]({ limit: 5 });
const listed = data.some(({ id }) => id === thread.id);
process.stdout.write(JSON.stringify({ status: result.status, text: String(wrong), listed }));
await client.close();
`;
const BROWSER_PROGRAM = `
import { connect, webSocketTransport } from "@flint/sdk/browser";

export async function ask(url: string, prompt: string): Promise<string> {
  const client = await connect({ transport: webSocketTransport(new WebSocket(url)) });
  const thread = await client.startThread();
  return (await thread.run(prompt)).text;
}
`;

let folder: TemporaryFolder;
let app = "";

beforeAll(async () => {
  folder = await temporaryFolder();
  app = folder.join("app");
  await mkdir(app);
  await install();
  await writeFile(join(app, "program.ts"), PROGRAM);
  await writeFile(join(app, "browser.ts"), BROWSER_PROGRAM);
}, SLOW_MS);

afterAll(() => folder.remove());

test("the tarballs install nothing but themselves and zod", async () => {
  const installed = await readdir(join(app, "node_modules"));
  expect(installed.filter((name) => !name.startsWith(".")).sort()).toEqual(["@flint", "flint", "zod"]);
  expect(await readdir(join(app, "node_modules/@flint"))).toEqual(["sdk"]);
});

test(
  "both commands run from the tarball",
  async () => {
    const answer = await run("node_modules/.bin/flint", "exec", "--offline", "hello");
    expect(answer).toContain("offline model");
    expect(await run("node_modules/.bin/flint-codex", "--version")).toMatch(/^codex-cli \d+\.\d+\.\d+/);
  },
  SLOW_MS,
);

test(
  "the command's package works alone in an empty folder",
  async () => {
    const alone = folder.join("alone");
    await mkdir(alone);
    const [tarball] = (await readdir(folder.path)).filter((name) => /^flint-\d.*\.tgz$/.test(name));
    await inFolder(alone, "npm", ["install", ...INSTALL_OPTIONS, `file:${folder.join(String(tarball))}`]);
    const installed = await readdir(join(alone, "node_modules"));
    expect(installed.filter((name) => !name.startsWith("."))).toEqual(["flint"]);
    const flint = (...args: string[]) => inFolder(alone, "node_modules/.bin/flint", args);
    expect(await flint("exec", "--offline", "hello")).toContain("offline model");
    // Tasks need the background server, and a worker its Redis client: both are in the package.
    expect(await flint("tasks", "list", "--json")).toBe("[]\n");
    await flint("server", "stop");
    await expect(flint("worker", "--redis", "redis://127.0.0.1:1")).rejects.toThrow("ECONNREFUSED");
  },
  SLOW_MS,
);

test(
  "a program with types drives the installed command through the installed SDK",
  async () => {
    await compile("program.ts", { types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] });
    const result: unknown = JSON.parse(await run(process.execPath, "program.js"));
    expect(result).toEqual({
      status: "completed",
      text: expect.stringContaining("offline model"),
      listed: true,
    });
  },
  SLOW_MS,
);

test(
  "the browser entry type-checks without @types/node, declarations included, and bundles without Node",
  async () => {
    await compile("browser.ts", { types: [], lib: ["ES2023", "DOM"], skipLibCheck: false });
    expect(await importsOf("browser.ts", "browser")).toEqual([]);
    // The Node entry shows that the check can find an import.
    expect(await importsOf("program.ts", "node")).toContain("node:child_process");
  },
  SLOW_MS,
);

needs("chromium")(
  "the browser entry runs a turn in a real browser",
  async () => {
    const [bundle] = await bundled("browser.ts", "browser", "iife");
    let url = "";
    const script = () => `${bundle?.code}; return { text: await program.ask("${url}/flint", "hello") };`;
    const page = await ReportingPage.serve(script, onTestFinished);
    const fixture = await ServerFixture.make();
    const flags = ["--offline", "--no-token", "--allow-origin", page.origin];
    const { addresses } = await fixture.listening(["--listen", "ws://127.0.0.1:0", ...flags]);
    url = addresses[0] ?? "";
    expect(await page.visit(onTestFinished)).toEqual({ text: expect.stringContaining("offline model") });
  },
  SLOW_MS,
);

/** Installs the tarballs without a registry: their one dependency is given as a folder. */
async function install(): Promise<void> {
  // Packing would build again, and replace the command that other tests run at this moment.
  await inFolder(ROOT, process.execPath, ["scripts/build/declarations.mjs"]);
  await inFolder(ROOT, "npm", [
    "pack",
    "--silent",
    "--ignore-scripts",
    "--workspace=flint",
    "--workspace=@flint/sdk",
    `--pack-destination=${folder.path}`,
  ]);
  await cp(join(ROOT, "node_modules/zod"), folder.join("zod"), { recursive: true });
  const tarballs = (await readdir(folder.path)).filter((name) => name.endsWith(".tgz"));
  const files = [...tarballs, "zod"].map((name) => `file:${folder.join(name)}`);
  await writeFile(join(app, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", "install", ...INSTALL_OPTIONS, ...files);
}

async function compile(file: string, options: object): Promise<void> {
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    ...options,
  };
  await writeFile(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
  await run(process.execPath, join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.json");
}

/** The modules that a bundle of a program still imports. */
async function importsOf(file: string, platform: "browser" | "node"): Promise<string[]> {
  const chunks = await bundled(file, platform, "esm");
  const own = new Set(chunks.map((chunk) => chunk.fileName));
  return chunks
    .flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
    .filter((name) => !own.has(name));
}

/** Bundles a program with what it imports; the exports of an "iife" are those of the global `program`. */
async function bundled(
  file: string,
  platform: "browser" | "node",
  format: ModuleFormat,
): Promise<OutputChunk[]> {
  const bundle = await rolldown({ cwd: app, input: `./${file}`, platform, logLevel: "silent" });
  const { output } = await bundle.generate({ format, name: "program" });
  await bundle.close();
  return output.filter((each) => each.type === "chunk");
}

function run(command: string, ...args: readonly string[]): Promise<string> {
  return inFolder(app, command, args);
}

function inFolder(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: folder.path, FLINT_HOME: folder.join("state") };
  return new Promise((resolve, reject) => {
    const child = execFile(command, [...args], { cwd, env, timeout: SLOW_MS }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.message}\n${stdout}${stderr}`));
    });
    child.stdin?.end();
  });
}
