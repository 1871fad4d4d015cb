import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bench, Figure } from "../../bench.ts";
import { runNode } from "../../processes/child.ts";
import type { Row } from "../../report/row.ts";
import { median } from "../../report/statistics.ts";

const FILES_PER_FOLDER = 50;

/** Cost of being able to undo a turn, in a repository of 10,000 files. */
export const checkpoint: Figure = {
  name: "checkpoint",
  async measure(bench: Bench) {
    const files = bench.choose(10_000, 500);
    const folder = await bench.newFolder();
    await fill(folder, files);
    const file = join(folder, "folder-0", "file-0.ts");
    const rounds = String(bench.choose(15, 2));
    const program = [bench.program("checkpoint"), folder, await bench.newFolder(), file, rounds];
    // The program says at its top what it writes.
    const measured = JSON.parse(await runNode(program)) as Measured;
    return rowsOf(measured, files.toLocaleString("en"));
  },
};

interface Measured {
  readonly first: number;
  readonly look: readonly number[];
  readonly walk: readonly number[];
  readonly edit: readonly number[];
  readonly copy: readonly number[];
}

function rowsOf(measured: Measured, files: string): Row[] {
  const walk = { name: "walking through them", value: median(measured.walk) };
  return [
    {
      figure: `checkpoint before an edit, ${files} files`,
      value: median(measured.edit),
      unit: "ms",
      floor: { name: "copying the file", value: median(measured.copy) },
      target: { of: "value", most: 50 },
    },
    {
      figure: "checkpoint of all of them before a command, after the first",
      value: median(measured.look),
      unit: "ms",
      floor: walk,
      target: { of: "ratio", most: 2.5 },
    },
    { figure: "… the first", value: measured.first, unit: "ms", floor: walk },
  ];
}

async function fill(folder: string, files: number): Promise<void> {
  for (let index = 0; index < files; index += 1) {
    const inner = join(folder, `folder-${Math.floor(index / FILES_PER_FOLDER)}`);
    if (index % FILES_PER_FOLDER === 0) await mkdir(inner);
    const text = `export const value${index} = ${index};\n`.repeat(60);
    await writeFile(join(inner, `file-${index % FILES_PER_FOLDER}.ts`), text);
  }
}
