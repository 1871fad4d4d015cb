// The least that a server in Node can be: answers every request with its own params.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, params } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ id, result: params })}\n`);
}
