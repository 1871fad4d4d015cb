import assert from "node:assert/strict";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import { count } from "../figures.ts";

const LOUD_COMMAND =
  "echo to stdout; echo to stderr >&2; echo by name >/dev/stdout; echo '{}' >/proc/self/fd/1";

/**
 * Lets libraries and commands print. That every line is a protocol message is checked after each case, by the
 *runner; this case makes everything else print that could.
 */
export const stdout: TortureCase = {
  id: "P06",
  title: "every line on stdout is a protocol message",
  async run(context) {
    const scripted = await context.start({ kind: "scripted" });
    const text = scriptText({ print: "a careless library" }, { text: "done" });
    const printed = await scripted.runTurn(await scripted.startThread(), text);
    assert.equal(printed.status, "completed");
    await scripted.stop();
    assert.equal(scripted.wire.stderr.split("a careless library").length - 1, 2, "prints go to stderr");

    const real = await context.start({ kind: "flint", args: ["--approval", "never"] });
    const threadId = await real.startThread();
    const ran = await real.runTurn(threadId, `run \`${LOUD_COMMAND}\``);
    assert.equal(ran.status, "completed", ran.error?.message);
    await real.stop();
    return [count("lines of all cases before", context.ledger.lines)];
  },
};
