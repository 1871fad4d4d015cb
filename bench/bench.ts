import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleModules } from "../scripts/build/library.mjs";
import type { Missing, Row } from "./row.ts";

/** One subject of the benchmark; it gives one or more rows of the table. */
export interface Figure {
  readonly name: string;
  measure(bench: Bench): Promise<readonly (Row | Missing)[]>;
}

/** The programs that are started to be measured, or to be measured against. */
export const PROGRAMS = [
  "add-tasks",
  "bench-server",
  "checkpoint",
  "claude-server",
  "frontend-server",
  "echo-server",
  "fake-claude",
  "fake-engine",
  "fan-out",
  "fleet-rate",
  "floor-adapter",
  "floor-claude",
  "git",
  "network",
  "parse-lines",
  "read-file",
  "sandbox",
  "task-overhead",
  "terminal",
] as const;
export type ProgramName = (typeof PROGRAMS)[number];

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
    const input = Object.fromEntries(PROGRAMS.map((name) => [name, `./bench/programs/${name}.ts`]));
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
