import assert from "node:assert/strict";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { descendantsOf } from "@flint/testkit";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count, none } from "../figures.ts";
import { pathsBelow } from "../log-files.ts";
import type { TortureServer } from "../server.ts";

/** Assembled at run time, so that secret scanners find no key in this repository. */
const BODY = "aB3dE6gH9jK2mN5pQ8sT1vX4zC7fG0hJ";
const PROVIDER = {
  ANTHROPIC_API_KEY: `quiet-words-${BODY}-one`,
  MY_SERVICE_TOKEN: `quiet-words-${BODY}-two`,
};
const KEYS = [
  ...[`sk-${BODY}`, `sk-ant-api03-${BODY}`, `sk-proj-${BODY}`, `ghp_${BODY}`, `github_pat_${BODY}`],
  ...[`AKIA${BODY.toUpperCase().slice(0, 16)}`, `xoxb-${BODY}`, `AIza${BODY}xyz`],
];
const BEARER = `Bearer ${BODY}`;
const SECRETS = [...KEYS, BEARER, ...Object.values(PROVIDER)];

/** Says and prints keys in every place where text comes in, and looks where they went. */
export const secrets: TortureCase = {
  id: "P31",
  title: "keys reach neither log nor stderr nor clients nor commands, however they come in",
  async run(context) {
    const [home, scriptedHome] = [join(await context.folder(), "home"), join(await context.folder(), "home")];
    const leaks = [
      ...(await throughCommands(context, home)),
      ...(await throughAgents(context, scriptedHome)),
    ];
    assert.deepEqual(leaks, [], "places where a key was found");
    return [count("keys", SECRETS.length), none("leaks", leaks.length)];
  },
};

/** A real command sees its surroundings and prints keys; the user says some. */
async function throughCommands(context: Context, home: string): Promise<string[]> {
  const args = ["--approval", "never"];
  const server = await context.start({ kind: "flint", home, args, env: PROVIDER });
  const threadId = await server.startThread({ model: "flint/offline" });
  const said = await server.runTurn(threadId, `remember ${SECRETS.join(" and ")}`);
  assert.equal(said.status, "completed", said.error?.message);
  const after = server.wire.mark;
  const script = "env; tr '\\\\0' '\\\\n' < /proc/self/environ; cat keys; echo up; sleep 1";
  const written = await server.call("command/exec", {
    command: ["sh", "-c", 'printf "%s\\n" "$@" > keys', "sh", ...SECRETS],
  });
  assert.equal(written.exitCode, 0, written.stderr);
  const turnId = await server.startTurn(threadId, `run \`${script}\``);
  await server.during(turnId, "item/commandExecution/outputDelta", after);
  const lines = descendantsOf(server.pid).map(({ command }) => `command line: ${command}`);
  assert.equal((await server.turnCompleted(turnId)).status, "completed");
  const seen = await server.call("command/exec", { command: ["sh", "-c", "env; cat keys >&2"] });
  return [...(await leaksOf(server, home, after)), ...found(lines), ...found([JSON.stringify(seen)])];
}

/** An agent says keys in pieces, its provider answers with one, and a library prints one. */
async function throughAgents(context: Context, home: string): Promise<string[]> {
  const server = await context.start({ kind: "scripted", home, env: PROVIDER });
  const threadId = await server.startThread();
  const after = server.wire.mark;
  for (const pieces of [1, 7, 40]) {
    const text = SECRETS.map((secret) => `is ${secret}, `).join("");
    await server.runTurn(
      threadId,
      scriptText({ text, pieces }, { reasoning: text, pieces }, { print: text }),
    );
  }
  const failed = await server.runTurn(
    threadId,
    scriptText({ throws: `401: wrong key ${SECRETS.join(" ")}` }),
  );
  assert.equal(failed.status, "failed");
  return leaksOf(server, home, after);
}

/** Returns the places in which a key is found: in files of the store, on stderr, in what clients received. */
async function leaksOf(server: TortureServer, home: string, after: number): Promise<string[]> {
  const received = server.wire.messages.slice(after).map((message) => JSON.stringify(message));
  await server.stop();
  // Copies of files for taking changes back are what the files were.
  const isOurs = (path: string) => lstatSync(path).isFile() && !path.includes("/checkpoints/");
  const files = pathsBelow(home).filter(isOurs);
  const stored = files.map((path) => `${path}: ${readFileSync(path, "utf8")}`);
  return [...found(stored), ...found([`stderr: ${server.wire.stderr}`]), ...found(received)];
}

function found(texts: readonly string[]): string[] {
  const isLeak = (text: string) =>
    SECRETS.some((secret) => text.includes(secret)) || text.includes(BODY.slice(4, 20));
  return texts.filter(isLeak).map((text) => text.slice(0, 300));
}
