// Measures Flint against the least that could do the same work, and prints one table. See README.md beside this file.

import { parseArgs } from "node:util";
import { errorMessage } from "@flint/protocol";
import { searchPath } from "@flint/testkit";
import { Bench, type Figure } from "./bench.ts";
import { checkpoint } from "./figures/host/checkpoint.ts";
import { git } from "./figures/host/git.ts";
import { network } from "./figures/host/network.ts";
import { sandbox } from "./figures/host/sandbox.ts";
import { asleep } from "./figures/processes/asleep.ts";
import { coldStart } from "./figures/processes/cold-start.ts";
import { execStart } from "./figures/processes/exec-start.ts";
import { frontendMemory } from "./figures/processes/frontend-memory.ts";
import { idle } from "./figures/processes/idle.ts";
import { terminal } from "./figures/processes/terminal.ts";
import { addTasks } from "./figures/tasks/add-tasks.ts";
import { fleet } from "./figures/tasks/fleet.ts";
import { idleTasks } from "./figures/tasks/idle-tasks.ts";
import { taskOverhead } from "./figures/tasks/task-overhead.ts";
import { agentCpu } from "./figures/threads/agent-cpu.ts";
import { approvalSpread } from "./figures/threads/approval-spread.ts";
import { attach } from "./figures/threads/attach.ts";
import { concurrency } from "./figures/threads/concurrency.ts";
import { decision } from "./figures/threads/decision.ts";
import { deltaCpu } from "./figures/threads/delta-cpu.ts";
import { durability } from "./figures/threads/durability.ts";
import { fanOut } from "./figures/threads/fan-out.ts";
import { threadList } from "./figures/threads/thread-list.ts";
import { endChildren } from "./processes/child.ts";
import { measureAgainst, renderComparison } from "./report/against.ts";
import type { Missing, Row } from "./report/row.ts";
import { renderTable } from "./report/table.ts";

const FIGURES: readonly Figure[] = [
  coldStart,
  execStart,
  terminal,
  deltaCpu,
  agentCpu,
  threadList,
  attach,
  concurrency,
  idle,
  asleep,
  fanOut,
  frontendMemory,
  approvalSpread,
  decision,
  durability,
  addTasks,
  idleTasks,
  taskOverhead,
  fleet,
  checkpoint,
  sandbox,
  network,
  git,
];

async function main(): Promise<number> {
  // The programs that the set-up of the tests found: without bubblewrap another sandbox would be measured.
  process.env.PATH = searchPath();
  const { values } = parseArgs({
    options: {
      short: { type: "boolean", default: false },
      only: { type: "string", multiple: true },
      against: { type: "string" },
      rounds: { type: "string", default: "5" },
    },
  });
  const figures = chosenFigures(values.only);
  if (values.against !== undefined) {
    const names = figures.map(({ name }) => name);
    const options = values.short ? ["--short"] : [];
    const rows = await measureAgainst(values.against, names, options, roundsOf(values.rounds));
    process.stdout.write(`${renderComparison(rows)}\n`);
    return 0;
  }
  const bench = await Bench.prepare(values.short);
  expectBuilt(bench);
  try {
    const rows = await measureAll(bench, figures);
    process.stdout.write(`${renderTable(rows)}\n`);
    return reportMissing(rows);
  } finally {
    await bench.close();
  }
}

function roundsOf(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds > 0) return rounds;
  throw new Error(`--rounds takes a whole number above 0, not ${JSON.stringify(text)}.`);
}

function chosenFigures(only: readonly string[] | undefined): readonly Figure[] {
  if (only === undefined) return FIGURES;
  return only.map((name) => {
    const figure = FIGURES.find((known) => known.name === name);
    if (figure !== undefined) return figure;
    const known = FIGURES.map((each) => each.name).join(", ");
    throw new Error(`There is no figure ${JSON.stringify(name)}. There are: ${known}.`);
  });
}

function expectBuilt(bench: Bench): void {
  if (bench.isBuilt) return;
  throw new Error("The flint command is not built; run `npm run build` first.");
}

/** A figure that fails does not keep the others from being measured. */
async function measureAll(bench: Bench, figures: readonly Figure[]): Promise<(Row | Missing)[]> {
  const rows: (Row | Missing)[] = [];
  for (const figure of figures) {
    process.stderr.write(`measuring ${figure.name} …\n`);
    try {
      rows.push(...(await figure.measure(bench)));
    } catch (error) {
      rows.push({ figure: figure.name, reason: errorMessage(error) });
      endChildren();
    }
  }
  return rows;
}

function reportMissing(rows: readonly (Row | Missing)[]): number {
  const missing = rows.filter((row) => "reason" in row);
  for (const { figure, reason } of missing)
    process.stderr.write(`${figure} could not be measured: ${reason}\n`);
  return missing.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  // A wrong option or a missing build: the message says what to do, the stack would only hide it.
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 2;
}
