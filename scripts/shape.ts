// Prints how big files and functions are in each package, how often types are forced, and how much is
// documented. It reads brackets and words, not a syntax tree, so the numbers are approximate.
import { packageNames, ROOT, readSources } from "../test/source/files.ts";
import { type FileShape, measureFile, quantile } from "./shape/measure.ts";

const LONG_FILE = 300;
const LONG_FUNCTION = 60;

const isTest = (path: string) => /\.test\.tsx?$/.test(path);

function measurePackage(name: string): { files: FileShape[]; tests: number } {
  const all = [...readSources(ROOT, `packages/${name}/src`)].map(([path, source]) =>
    measureFile(path, source),
  );
  const tests = all.filter((file) => isTest(file.path));
  return { files: all.filter((file) => !isTest(file.path)), tests: total(tests, (file) => file.lines) };
}

function row(name: string, files: readonly FileShape[], tests: number): Record<string, string | number> {
  const lines = total(files, (file) => file.lines);
  const exported = total(files, (file) => file.exported);
  const documented = total(files, (file) => file.documented);
  return {
    package: name,
    files: files.length,
    lines,
    "file median/p95/max": spread(files.map((file) => file.lines)),
    "function median/p95/max": spread(files.flatMap((file) => file.functions.map((each) => each.lines))),
    "casts per 1k": ((1000 * total(files, (file) => file.casts)) / Math.max(1, lines)).toFixed(1),
    any: total(files, (file) => file.any),
    "non-null": total(files, (file) => file.nonNull),
    documented: exported === 0 ? "-" : `${Math.round((100 * documented) / exported)} %`,
    "test lines": tests,
  };
}

function spread(values: readonly number[]): string {
  return [quantile(values, 0.5), quantile(values, 0.95), Math.max(0, ...values)].join(" / ");
}

function total(files: readonly FileShape[], measure: (file: FileShape) => number): number {
  return files.reduce((sum, file) => sum + measure(file), 0);
}

function printTable(rows: readonly Record<string, string | number>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((each) => columns.map((column) => String(each[column])))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  for (const line of cells)
    console.log(line.map((cell, index) => cell.padStart(widths[index] ?? 0)).join("  "));
}

function printLong(files: readonly FileShape[]): void {
  const longFiles = files.filter((file) => file.lines > LONG_FILE);
  for (const file of longFiles) console.log(`look twice: ${file.path} has ${file.lines} lines`);
  for (const file of files) {
    for (const each of file.functions.filter(({ lines }) => lines > LONG_FUNCTION)) {
      console.log(`look twice: ${file.path}:${each.line} ${each.name} has ${each.lines} lines`);
    }
  }
}

const packages = packageNames(ROOT).map((name) => ({ name, ...measurePackage(name) }));
const everything = packages.flatMap(({ files }) => files);
const tests = packages.reduce((sum, each) => sum + each.tests, 0);
printTable([
  ...packages.map((each) => row(each.name, each.files, each.tests)),
  row("all", everything, tests),
]);
printLong(everything);
