import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleModules } from "../scripts/build/library.mjs";
import type { Missing, Row } from "./report/row.ts";

/** One subject of the benchmark; it gives one or more rows of the table. */
export interface Figure {
  readonly name: string;
  measure(bench: Bench): Promise<readonly (Row | Missing)[]>;
}

/** The programs that are started to be measured, or to be measured against, by name with their source. */
const PROGRAMS = {
  "add-tasks": "tasks/add-tasks",
  "bench-server": "servers/bench-server",
  checkpoint: "host/checkpoint",
  "claude-server": "servers/claude-server",
  "frontend-server": "servers/frontend-server",
  "echo-server": "servers/echo-server",
  "fake-claude": "agents/fake-claude",
  "fake-engine": "agents/fake-engine",
  "fan-out": "servers/fan-out",
  "fleet-rate": "tasks/fleet-rate",
  "floor-adapter": "agents/floor-adapter",
  "floor-claude": "agents/floor-claude",
  git: "host/git",
  network: "host/network",
  "parse-lines": "parse-lines",
  "read-file": "read-file",
  sandbox: "host/sandbox",
  "task-overhead": "tasks/task-overhead",
  terminal: "terminal",
} as const;
export type ProgramName = keyof typeof PROGRAMS;

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Dependencies of a measurement: the programs, folders that go away afterwards, and how thorough to be. */
export class Bench {
  /** Fewer rounds and smaller amounts, to see that everything works. */
  readonly short: boolean;
  readonly #folder: string;

  private constructor(folder: string, short: boolean) {
    this.#folder = folder;
    this.short = short;
  }

  /** Builds the programs the way the product is built. */
  static async prepare(short: boolean): Promise<Bench> {
    const folder = await mkdtemp(join(tmpdir(), "flint-bench-"));
    const sources = Object.entries(PROGRAMS);
    const input = Object.fromEntries(sources.map(([name, path]) => [name, `./bench/programs/${path}.ts`]));
    await bundleModules(ROOT, input, join(folder, "programs"), { extension: ".mjs" });
    return new Bench(folder, short);
  }

  /** Reports whether the command of the product is there to be measured. */
  get isBuilt(): boolean {
    return existsSync(join(ROOT, "packages/cli/dist/flint.cjs"));
  }

  /** The arguments for `node` that start the command of the product. */
  get flint(): readonly string[] {
    return [join(ROOT, "packages/cli/bin/flint.cjs"), "serve", "--stdio"];
  }

  /** The arguments for `node` that start a server whose agents are made for measurements. */
  server(root: string, durability: "full" | "relaxed" = "full"): readonly string[] {
    return [this.program("bench-server"), root, durability, this.program("fake-engine")];
  }

  /** The path of a program. */
  program(name: ProgramName): string {
    return join(this.#folder, "programs", `${name}.mjs`);
  }

  /** A new empty folder. */
  newFolder(): Promise<string> {
    return mkdtemp(join(this.#folder, "state-"));
  }

  /** One amount for a thorough run, another for a short one. */
  choose(thorough: number, short: number): number {
    return this.short ? short : thorough;
  }

  /** Removes everything that was created. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
