// Reads a file once, as bytes, and prints how many milliseconds that took. Argument: the file.
import { readFile } from "node:fs/promises";

const start = performance.now();
await readFile(process.argv[2] ?? "");
process.stdout.write(`${performance.now() - start}\n`);
