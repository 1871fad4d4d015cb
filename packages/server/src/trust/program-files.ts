import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { exists, readRegularText } from "@flint/host/files";
import { filesIn } from "@flint/host/steering";
import { isRecord } from "@flint/protocol";

/** The program of an MCP server. */
export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The files of a program that lie where agents can write, or why they cannot all be known. */
export type ProgramFiles = { readonly files: readonly string[] } | { readonly problem: string };

/** The folder to search, and the paths that agents can write. */
export interface ProgramPlace {
  readonly cwd: string;
  /** Folders that agents can write, as real paths. */
  readonly roots: readonly string[];
  findProgram(name: string): Promise<string | undefined>;
}

/** More than this is not hashed before each start. */
export const PROGRAM_LIMITS = { files: 5000, bytes: 64 * 1024 * 1024 };

const MAX_SOURCE = 4 * 1024 * 1024;

/** Programs that run another one by its name, from the packages of the project if it is there. */
const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(["npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "bun"]);

/** Files that they obey in the folder that they are started in, and in those above it. */
const RUNNER_SETTINGS = [
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  "pnpm-workspace.yaml",
  "bunfig.toml",
];

/** Programs that run what a file of the project says, and that file. */
const PROJECT_RUNNERS: Readonly<Record<string, string>> = {
  ...{ make: "Makefile", just: "justfile", rake: "Rakefile", cargo: "Cargo.toml", go: "go.mod" },
  ...{ poetry: "pyproject.toml", uv: "pyproject.toml", hatch: "pyproject.toml", pipenv: "Pipfile" },
  ...{ deno: "deno.json", gradle: "build.gradle", mvn: "pom.xml", docker: "compose.yaml" },
};

const SCRIPT = /\.(?:[cm]?[jt]sx?|py|sh|rb|pl|php|lua|jar|wasm|node|so(?:\.[\d.]+)?)$/;
const INTERPRETER = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|lua|(?:ba|da|z)?sh)$/;

/** Variables that name folders from which interpreters and the linker load code. */
const LOAD_FOLDERS = /^(?:NODE_PATH|PYTHONPATH|PYTHONHOME|PERL5LIB|RUBYLIB|CLASSPATH|LD_LIBRARY_PATH|PATH)$/;

/**
 * Finds the files that a program consists of, as far as agents can write them: the program and its scripts, what those import
 * by a relative path, and whole packages with what they depend on. Empty if agents can write none of it.
 */
export async function programFiles(program: ServerProgram, place: ProgramPlace): Promise<ProgramFiles> {
  const search = new ProgramSearch(place);
  const problem = await search.addProgram(program);
  if (problem !== undefined) return { problem };
  const files = await search.expand();
  if (files.length > PROGRAM_LIMITS.files) {
    return {
      problem: `its program has more than ${PROGRAM_LIMITS.files} files in folders that agents can write`,
    };
  }
  return { files };
}

class ProgramSearch {
  readonly #place: ProgramPlace;
  readonly #found = new Set<string>();
  readonly #packages = new Set<string>();
  readonly #open: string[] = [];

  constructor(place: ProgramPlace) {
    this.#place = place;
  }

  /** Adds what a command line names; returns why that cannot be known. */
  async addProgram({ command, args, env = {} }: ServerProgram): Promise<string | undefined> {
    const { cwd } = this.#place;
    const name = basename(command);
    const path = command.includes("/") ? resolve(cwd, command) : await this.#place.findProgram(command);
    if (path !== undefined) await this.#add(path);
    for (const [variable, value] of Object.entries(env)) await this.#addVariable(variable, value);
    const manifest = PROJECT_RUNNERS[name];
    if (manifest !== undefined && (await exists(join(cwd, manifest)))) return runsProject(name, manifest);
    if (PACKAGE_RUNNERS.has(name)) return this.#addPackageProgram(name, args);
    if (name.startsWith("python")) await this.#addPythonModule(args);
    await this.#addScripts(args, INTERPRETER.test(name));
    return undefined;
  }

  /** All files, when everything that they import is among them. */
  async expand(): Promise<string[]> {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      if (this.#found.size > PROGRAM_LIMITS.files) break;
      const inPackage = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(next)?.[1];
      if (inPackage !== undefined && basename(inPackage) !== ".bin") await this.#addPackage(inPackage);
      else await this.#addImports(next);
    }
    return [...this.#found];
  }

  async #addPackageProgram(runner: string, args: readonly string[]): Promise<string | undefined> {
    const words = args.filter((word) => !word.startsWith("-"));
    const [first = "", second = ""] = words;
    const isDirect = /x$/.test(runner);
    if (!isDirect && !/^(?:exec|x|dlx)$/.test(first)) {
      if (await exists(join(this.#place.cwd, "package.json"))) return runsProject(runner, "package.json");
      await this.#add(join(this.#place.cwd, "bunfig.toml"));
      return this.#addScripts(first === "run" ? args.slice(args.indexOf(first) + 1) : args, true);
    }
    // A version may follow the name, and the package may have a scope that its program has not.
    const name = (isDirect ? first : second).replace(/(.)@[^/@]*$/, "$1");
    for (let folder = this.#place.cwd; ; folder = dirname(folder)) {
      const modules = join(folder, "node_modules");
      for (const settings of RUNNER_SETTINGS) await this.#add(join(folder, settings));
      if (await this.#isOwnProgram(folder, name)) return runsProject(runner, "package.json");
      await this.#add(join(modules, ".bin", basename(name)));
      if (name !== "" && (await exists(join(modules, name, "package.json"))))
        await this.#addPackage(join(modules, name));
      if (dirname(folder) === folder) return undefined;
    }
  }

  /** Reports whether a project that agents can write calls one of its own files by the name of a program. */
  async #isOwnProgram(folder: string, name: string): Promise<boolean> {
    const file = join(await realpath(folder).catch(() => folder), "package.json");
    if (!this.#isWritable(file)) return false;
    const text = await readRegularText(file, MAX_SOURCE);
    const { name: own, bin } = documentIn(typeof text === "string" ? text : "");
    if (isRecord(bin)) return Object.hasOwn(bin, name) || Object.hasOwn(bin, basename(name));
    return typeof bin === "string" && own === name;
  }

  /** Adds what a variable makes the program load: `NODE_OPTIONS` names files, `PYTHONPATH` folders. */
  async #addVariable(variable: string, value: string): Promise<void> {
    const words = value.split(/[\s:;,="']+/).filter((word) => word !== "");
    await this.#addScripts(words, false);
    if (!LOAD_FOLDERS.test(variable)) return;
    for (const word of words) {
      const folder = await realpath(resolve(this.#place.cwd, word)).catch(() => undefined);
      if (folder !== undefined) await this.#addFolder(folder);
    }
  }

  /** Adds what `python -m name` finds in the folder that it is started in. */
  async #addPythonModule(args: readonly string[]): Promise<void> {
    const name = args[args.indexOf("-m") + 1];
    if (name === undefined || !args.includes("-m")) return;
    const path = join(this.#place.cwd, ...name.split("."));
    await this.#add(`${path}.py`);
    const top = join(this.#place.cwd, name.split(".")[0] ?? "");
    if ((await lstat(top).catch(() => undefined))?.isDirectory() === true) await this.#addFolder(top);
  }

  async #addScripts(args: readonly string[], isInterpreter: boolean): Promise<undefined> {
    let isFirst = isInterpreter;
    for (const word of args.flatMap(wordsOf)) {
      const path = word.startsWith("file:") ? fileOfUrl(word) : resolve(this.#place.cwd, word);
      const found = await lstat(path).catch(() => undefined);
      const isProgram =
        found?.isFile() === true && (isFirst || SCRIPT.test(path) || (found.mode & 0o111) !== 0);
      if (isProgram || found?.isSymbolicLink() === true) await this.#add(path);
      // `node ./folder` runs what its package names.
      else if (found?.isDirectory() === true && isFirst && !this.#place.roots.includes(path))
        await this.#addFolder(path);
      // `node server` runs server.js.
      else if (found === undefined && (isFirst || /^\.{0,2}\//.test(word))) await this.#addModule(path);
      if (!word.startsWith("-")) isFirst = false;
    }
  }

  /** Adds a file, and where it is a link also what that leads to. */
  async #add(path: string): Promise<void> {
    const folder = await realpath(dirname(path)).catch(() => undefined);
    if (folder === undefined) return;
    const file = join(folder, basename(path));
    if (this.#found.has(file) || !(await exists(file))) return;
    const target = await readlink(file).catch(() => undefined);
    if (this.#isWritable(file)) {
      this.#found.add(file);
      if (target === undefined) this.#open.push(file);
    }
    if (target !== undefined) await this.#add(resolve(folder, target));
  }

  async #addFolder(folder: string): Promise<void> {
    if (!this.#isWritable(`${folder}${sep}x`)) return;
    for (const file of await filesIn(folder, PROGRAM_LIMITS.files + 1)) this.#found.add(file);
  }

  /** Adds a package with all of its dependencies. */
  async #addPackage(given: string): Promise<void> {
    const folder = await realpath(given).catch(() => undefined);
    if (folder === undefined || this.#packages.has(folder)) return;
    this.#packages.add(folder);
    if (this.#found.size > PROGRAM_LIMITS.files) return;
    await this.#addFolder(folder);
    const text = await readRegularText(join(folder, "package.json"), MAX_SOURCE);
    for (const name of dependenciesIn(typeof text === "string" ? text : ""))
      await this.#addPackageFrom(folder, name);
  }

  /** Adds the package that a file in a folder gets by a name. */
  async #addPackageFrom(from: string, name: string): Promise<void> {
    for (let folder = from; ; folder = dirname(folder)) {
      const candidate = join(folder, "node_modules", name);
      if (await exists(join(candidate, "package.json"))) return this.#addPackage(candidate);
      if (dirname(folder) === folder) return;
    }
  }

  async #addImports(file: string): Promise<void> {
    const text = await readRegularText(file, MAX_SOURCE);
    if (typeof text !== "string") return;
    if (file.endsWith(".py")) return this.#addPythonImports(file, text);
    const folder = dirname(file);
    for (const [, name = ""] of text.matchAll(
      /(?:\bfrom|\bimport|\brequire|\bimport\.meta\.resolve)\s*\(?\s*["'`]([^"'`\n]+)["'`]/g,
    )) {
      if (name.startsWith(".") || isAbsolute(name)) await this.#addModule(resolve(folder, name));
      else if (!name.startsWith("node:")) await this.#addPackageFrom(folder, packageName(name));
    }
  }

  async #addModule(path: string): Promise<void> {
    const base = /\.[cm]?js$/.test(path) ? path.slice(0, -extname(path).length) : path;
    const candidates = [
      path,
      ...EXTENSIONS.flatMap((end) => [path + end, base + end, join(path, `index${end}`)]),
    ];
    for (const candidate of new Set(candidates)) {
      if ((await lstat(candidate).catch(() => undefined))?.isDirectory() === false)
        await this.#add(candidate);
    }
  }

  async #addPythonImports(file: string, text: string): Promise<void> {
    for (const [, name = ""] of text.matchAll(/^\s*(?:from|import)\s+\.*([\w.]*)/gm)) {
      const path = join(dirname(file), ...name.split("."));
      await this.#add(`${path}.py`);
      const top = join(dirname(file), name.split(".")[0] ?? "");
      if (name !== "" && (await exists(join(top, "__init__.py")))) await this.#addFolder(top);
    }
  }

  #isWritable(path: string): boolean {
    return this.#place.roots.some((root) => path.startsWith(root.endsWith(sep) ? root : root + sep));
  }
}

const EXTENSIONS = [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".tsx", ".jsx", ".json"];

function runsProject(name: string, manifest: string): string {
  return `${name} runs whatever ${manifest} says, and agents can change that. Name the program itself in its configuration`;
}

/** The words of an argument that may be paths: `--import=./x.js` names one, and so does the script of a shell. */
function wordsOf(argument: string): string[] {
  const [, value] = /^-{1,2}[\w-]+=(.+)$/.exec(argument) ?? [];
  return [
    argument,
    ...(value === undefined ? [] : [value]),
    ...(/\s/.test(argument) ? argument.split(/[\s;|&"']+/) : []),
  ].filter((word) => word !== "" && word !== ".");
}

function fileOfUrl(word: string): string {
  // Expected: something that only looks like a URL.
  try {
    return fileURLToPath(word);
  } catch {
    return word;
  }
}

function packageName(name: string): string {
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

function dependenciesIn(text: string): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = documentIn(text);
  const kinds = [dependencies, optionalDependencies, peerDependencies];
  return kinds.flatMap((kind) => (isRecord(kind) ? Object.keys(kind) : []));
}

function documentIn(text: string): Readonly<Record<string, unknown>> {
  // Expected: a package without a valid description.
  try {
    const document: unknown = JSON.parse(text);
    return isRecord(document) ? document : {};
  } catch {
    return {};
  }
}
