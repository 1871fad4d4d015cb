import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { DONE, type ScriptedAgent } from "./scripted-agents.ts";

/** The prompts of the flows: each is one turn of the script. */
export const FLOWS = {
  allowedHost: "first",
  declinedHost: "second",
  allowedCommit: "third",
  declinedCommit: "fourth",
  allowedLeave: "fifth",
  declinedLeave: "sixth",
  allowedChange: "seventh",
  declinedChange: "eighth",
  declinedCommand: "ninth",
};

/** A command that stays in the sandbox and is not known to be read-only. */
export const DECLINED_COMMAND = "touch declined-command";

/** Commands that can only succeed outside of the sandbox, and why the agent says that it needs them. */
export const OUTSIDE = {
  allowed: "echo run >> ../count; echo lantern",
  declined: "touch ../declined",
  why: "It is outside.",
};

/** The files that the agent makes in the workspace. */
export const FILES = { allowed: "kept.txt", declined: "declined.txt" };

/** The titles of the commits that the user takes over and declines. */
export const TITLES = { allowed: "kept-lantern", declined: "declined-lantern" };

/** A server of the user's machine for the time of a test, which answers `lantern`. */
export async function localServer(): Promise<{ readonly port: number; readonly paths: readonly string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    response.end("lantern\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return { port: address.port, paths };
}

/** Connects through the proxy: loopback without it is that of the sandbox. It prints nothing if it is refused. */
export function connectTo(port: number, path: string): string {
  return `curl -sf --noproxy none http://localhost:${port}/${path}`;
}

/** Commits nothing but a title. */
export function commitAs(title: string): string {
  const author = "-c user.name=a -c user.email=a@example.org -c commit.gpgsign=false";
  return `git ${author} commit --quiet --allow-empty -m ${title}`;
}

/** Flows for a policy that asks only about actions that leave the sandbox, in the order of the script. */
export const ON_REQUEST = [FLOWS.declinedCommand, FLOWS.declinedLeave, FLOWS.allowedChange];

/** A script in which the agent does everything twice, to be allowed and declined: it runs commands, connects to the user's machine, commits, leaves the sandbox and changes a file. */
export function flowScript(
  { run, leave, write }: ScriptedAgent,
  port: number,
  only: readonly string[] = Object.values(FLOWS),
): readonly unknown[] {
  const turns = [
    [FLOWS.allowedHost, run(connectTo(port, "allowed"))],
    [FLOWS.declinedHost, run(connectTo(port, "declined"))],
    [FLOWS.declinedCommand, run(DECLINED_COMMAND)],
    [FLOWS.allowedCommit, run(commitAs(TITLES.allowed))],
    [FLOWS.declinedCommit, run(commitAs(TITLES.declined))],
    [FLOWS.allowedLeave, leave(OUTSIDE.allowed, OUTSIDE.why)],
    [FLOWS.declinedLeave, leave(OUTSIDE.declined, OUTSIDE.why)],
    [FLOWS.allowedChange, write(FILES.allowed, "lantern")],
    [FLOWS.declinedChange, write(FILES.declined, "lantern")],
  ] as const;
  const played = turns.filter(([when]) => only.includes(when));
  return played.flatMap(([when, parts]) => [{ when, parts }, DONE]);
}

/** The titles of the commits that a user finds in a repository: on the branch, and in what Flint keeps of declined ones. */
export async function titlesIn(cwd: string): Promise<{ readonly branch: string; readonly kept: string }> {
  const git = async (...args: readonly string[]) => (await promisify(execFile)("git", args, { cwd })).stdout;
  const branch = await git("log", "--format=%s");
  const kept = await git("log", "--format=%s", "--glob=refs/flint/in");
  return { branch, kept };
}
