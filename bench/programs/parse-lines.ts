// Reads a file of JSON lines and parses each, and prints how many milliseconds that took. Argument: the file.
import { readFile } from "node:fs/promises";

const start = performance.now();
for (const line of (await readFile(process.argv[2] ?? "", "utf8")).split("\n")) {
  if (line !== "") JSON.parse(line);
}
process.stdout.write(`${performance.now() - start}\n`);
