// Measures what the network of a thread costs. Arguments: a folder and how many rounds. Writes JSON: the milliseconds of
// `true` in each round, in bubblewrap alone and in the namespace of a thread, and those of making such a namespace.
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { socketFilter, ThreadNetwork, writeNodePrograms } from "@flint/host/network";
import { interleave } from "../../report/rounds.ts";

const [folder = "", rounds = "1"] = process.argv.slice(2);

/** The arguments that the sandbox gives to bubblewrap, without those that depend on the workspace. */
const ARGUMENTS = [
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-user", "--unshare-pid"],
  ...["--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", "--disable-userns", "--die-with-parent"],
  ...["--new-session", "--seccomp", "3"],
];

function find(name: string): string {
  const files = (process.env.PATH ?? "").split(":").map((place) => join(place, name));
  const found = files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false; // Not there, or not to be run: both mean no.
    }
  });
  if (found === undefined) throw new Error(`${name} is not on PATH`);
  return found;
}

const bwrap = find("bwrap");
const holder = [bwrap, "--unshare-user", "--unshare-net", "--die-with-parent", "--ro-bind", "/", "/", "--"];
const tools = { holder, nsenter: find("nsenter"), node: process.execPath };
const programs = await writeNodePrograms(folder);

async function timed([program = "", ...rest]: readonly string[]): Promise<number> {
  const start = performance.now();
  const child = spawn(program, rest, { stdio: ["ignore", "ignore", "inherit", "pipe"] });
  const filter = child.stdio[3];
  if (filter !== null && filter !== undefined && "end" in filter) filter.end(socketFilter());
  const exitCode = await new Promise((resolve) => child.once("exit", resolve));
  if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`);
  return performance.now() - start;
}

async function timedInThread(network: ThreadNetwork): Promise<number> {
  const start = performance.now();
  const { enter, release } = await network.openCommand({ id: "true", environment: {} });
  await timed([...enter, bwrap, ...ARGUMENTS, "--", "true"]);
  release();
  return performance.now() - start;
}

async function timedNamespace(): Promise<number> {
  const network = new ThreadNetwork({ tools, programs });
  const start = performance.now();
  const { release } = await network.openCommand({ id: "true", environment: {} });
  const took = performance.now() - start;
  release();
  await network.dispose();
  return took;
}

const network = new ThreadNetwork({ tools, programs });
const measured = await interleave(Number(rounds), {
  alone: () => timed([bwrap, ...ARGUMENTS, "--unshare-net", "--", "true"]),
  thread: () => timedInThread(network),
  namespace: timedNamespace,
});
await network.dispose();
process.stdout.write(JSON.stringify(measured));
