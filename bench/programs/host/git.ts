// Measures what commits in a sandbox cost. Arguments: a folder and how many rounds. Writes JSON: the milliseconds of each
// round for fetching two commits from a repository beside it, for preparing a private git directory, and for taking two
// commits over from it: looking, showing and accepting.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import { interleave } from "../../report/rounds.ts";

const [folder = "", rounds = "1"] = process.argv.slice(2);
const FILES = 1_000;
const COMMIT = "git -c user.name=a -c user.email=a@b commit -qam";
const CHANGE = `for n in 1 2; do echo $n >> f/1; ${COMMIT} $n; done`;

const at = (name: string) => join(folder, name);
const run = (cwd: string, script: string) => execFileSync("sh", ["-c", script], { cwd });

mkdirSync(join(at("work"), "f"), { recursive: true });
for (let file = 0; file < FILES; file += 1) writeFileSync(join(at("work"), "f", String(file)), `${file}\n`);
run(at("work"), `git init -q -b main; git add .; ${COMMIT} first; ${CHANGE}`);
run(folder, "git clone -q work source; git clone -q source target");

const sandbox = new CommandSandbox({ environment: process.env, scopeFolder: at("state") });

async function launch(script: string, id?: string): Promise<number> {
  const start = performance.now();
  const { exitCode } = await sandbox.launch({
    ...{ command: ["sh", "-c", script], cwd: at("work"), workspace: at("work") },
    policy: { type: "workspaceWrite" },
    scope: id === undefined ? undefined : { id, privateGit: true },
    onOutput: (text) => process.stderr.write(text),
  });
  if (exitCode !== 0) throw new Error(`${script} ended with ${exitCode}`);
  return performance.now() - start;
}

let count = 0;

/** The first command of a thread, less the same command without a git directory of its own. */
async function timedPreparation(): Promise<number> {
  const plain = await launch("true");
  count += 1;
  const first = await launch("true", `thread-${count}`);
  return first - plain;
}

async function timedTakeOver(): Promise<number> {
  count += 1;
  const id = `thread-${count}`;
  await launch(CHANGE, id);
  const start = performance.now();
  const offer = await sandbox.commits(id);
  const taken = await offer?.accept();
  const took = performance.now() - start;
  if (taken === undefined || taken.refused !== undefined)
    throw new Error(`not taken over: ${taken?.refused}`);
  await sandbox.closeScope(id);
  return took;
}

async function timedFetch(): Promise<number> {
  run(at("source"), CHANGE);
  const start = performance.now();
  run(at("target"), "exec git fetch -q");
  return performance.now() - start;
}

const measured = await interleave(Number(rounds), {
  fetch: timedFetch,
  preparation: timedPreparation,
  takeOver: timedTakeOver,
});
process.stdout.write(JSON.stringify(measured));
