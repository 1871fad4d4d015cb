// Measures checkpoints of a folder. Arguments: the folder, the state folder, one of its files, and how many rounds.
// Writes JSON: the first look at everything, and for each round a look after a small change, the walk that any such
// look needs, the saving of one file before an edit, and the plain copy of that file; all in milliseconds.
import { copyFileSync, lstatSync, readdirSync, writeFileSync } from "node:fs";
import type { TurnCheckpoint } from "@flint/core/ports";
import { FileCheckpoints } from "@flint/host/checkpoints";
import { mintId } from "@flint/protocol";
import { interleave } from "../../report/rounds.ts";

const [folder = "", root = "", file = "", rounds = "1"] = process.argv.slice(2);
const checkpoints = new FileCheckpoints({ root });
const never = new AbortController().signal;

async function timed(work: (turn: TurnCheckpoint) => unknown): Promise<number> {
  const turn = await begin();
  const start = performance.now();
  await work(turn);
  const took = performance.now() - start;
  await turn.end();
  return took;
}

function begin(): Promise<TurnCheckpoint> {
  const failed = (error: unknown) => {
    throw error;
  };
  return checkpoints.begin({
    threadId: "bench",
    turnId: mintId(),
    roots: [folder],
    ephemeral: false,
    onError: failed,
  });
}

function walk(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    lstatSync(`${path}/${entry.name}`);
    if (entry.isDirectory()) walk(`${path}/${entry.name}`);
  }
}

const first = await timed((turn) => turn.saveWorkspace(never));
// A file that was changed a moment ago is read again; that is over soon and is not part of the measurement.
await new Promise((resolve) => setTimeout(resolve, 200));
await timed((turn) => turn.saveWorkspace(never));
let edits = 0;
const measured = await interleave(Number(rounds), {
  look: () => {
    edits += 1;
    writeFileSync(file, `look ${edits}`);
    return timed((turn) => turn.saveWorkspace(never));
  },
  walk: () => timed(() => walk(folder)),
  edit: () => {
    edits += 1;
    writeFileSync(file, `edit ${edits}`);
    return timed((turn) => turn.saveFiles([file]));
  },
  copy: () => timed(() => copyFileSync(file, `${root}/copy`)),
});
await checkpoints.close();
process.stdout.write(`${JSON.stringify({ first, ...measured })}\n`);
