import assert from "node:assert/strict";
import type { TortureCase } from "../case.ts";
import { count } from "../figures.ts";
import { MALFORMED_LINES, type MalformedLine } from "../malformed-lines.ts";
import type { TortureServer } from "../server.ts";

/** Sends each kind of malformed line alone. */
export const malformed: TortureCase = {
  id: "P01",
  title: "each kind of malformed line gets one error and harms nothing",
  async run(context) {
    const server = await context.start({ kind: "flint" });
    for (const line of MALFORMED_LINES) {
      expectAnswer(line, await answersTo(server, line));
      await server.expectAlive(context.patience);
    }
    return [count("kinds", MALFORMED_LINES.length)];
  },
};

/** The lines that came for it: all that came before the answer to a request that was sent after it. */
async function answersTo(server: TortureServer, line: MalformedLine): Promise<readonly string[]> {
  const before = server.wire.lines.length;
  await server.wire.sendRaw(line.bytes);
  await server.call("model/list", {});
  return server.wire.lines.slice(before, -1);
}

function expectAnswer({ name, code, id }: MalformedLine, answers: readonly string[]): void {
  assert.equal(answers.length, code === undefined ? 0 : 1, `answers to ${name}: ${answers.join(" ")}`);
  const [answer] = answers;
  if (answer === undefined) return;
  const { error } = JSON.parse(answer) as { error?: { code?: number } };
  assert.equal(error?.code, code, `the code for ${name}`);
  // Looked for in the text: a parsed number would have lost its digits.
  assert(answer.includes(`"id":${id}`), `the id for ${name}: ${answer}`);
}
