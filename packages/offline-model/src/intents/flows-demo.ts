import { type Flow, use } from "./flow.ts";
import { append, write } from "./flows-changing.ts";
import { type StageReport, workThrough } from "./flows-plan.ts";
import { describeListing, describeRun, namesIn } from "./reports.ts";
import type { Toolbox } from "./toolbox.ts";

/** The file that the demonstration makes. */
const DEMO_FILE = "flint-demo.md";
/** A file whose lines can be counted by a command that is known to only read. */
const MEASURED = /^(?:readme|package|cargo|pyproject|license|makefile|go)(?:\.\w+)?$/i;

/** Shows a plan, real commands, a small change of a file, and a summary of what came of them. */
export function* demo(tools: Toolbox): Flow {
  let names: readonly string[] = [];
  const look = function* (): Flow {
    const result = yield* use(tools.show());
    names = result.status === "done" ? namesIn(result.text) : [];
    return { text: describeListing(result) };
  };
  const run = function* (): Flow {
    const file = names.find((name) => MEASURED.test(name));
    const command = file === undefined ? "date" : `wc -l ${file}`;
    return { text: describeRun(command, yield* use(tools.run(command))) };
  };
  const stages = [
    { title: "Look at what is in the folder", begin: look },
    { title: "Run a command", begin: run },
    { title: `Write ${DEMO_FILE}`, begin: () => leaveNote(names, tools) },
  ];
  return { text: summary(yield* workThrough(stages, tools)) };
}

/** The first time a new file, later one more line in it: a small difference each time. */
function* leaveNote(names: readonly string[], tools: Toolbox): Flow {
  if (names.includes(DEMO_FILE)) return yield* append(DEMO_FILE, "- Flint was here once more.", tools);
  const content = [
    "# A note from Flint",
    "",
    "This file was made to show how Flint changes files: you see the difference first, and nothing is",
    "written unless it is allowed. It is safe to delete.",
    "",
    "- Flint was here.",
    "",
  ].join("\n");
  return yield* write(DEMO_FILE, content, tools);
}

function summary(reports: readonly StageReport[]): string {
  const lines = reports.map(
    ({ title, text, worked }, index) => `${index + 1}. ${title}: ${worked ? "" : "not done. "}${text}`,
  );
  const allowed = reports.every(({ worked }) => worked)
    ? `The note is in ${DEMO_FILE}; delete it whenever you like.`
    : "What was declined can be allowed when Flint asks, or beforehand with --approval never.";
  return [
    "That was a plan, commands that really ran, and a change that you could see before it was made:",
    ...lines,
    allowed,
    'Now try "run the tests", "what does this project do?" or "replace `a` with `b` in file.txt".',
  ].join("\n\n");
}
