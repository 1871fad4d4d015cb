import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { BROKER_FOLDER, BROKER_HOOK, GRANT_CHECK, GRANTS_FOLDER } from "@flint/core/ports";
import { shellQuote } from "@flint/core/text";

/** The name of the broker's socket in that folder; short, because the path of a socket is limited. */
export const SOCKET_NAME = "s";

const PROGRAM_NAME = "flint-run.cjs";

/** Kinds of frames that a broker sends: a byte for the kind, four for the length, and the content. */
export const FRAME = { stdout: 1, stderr: 2, exit: 3 } as const;

/** The exit code of a command that the broker did not run. */
export const REFUSED = 126;

/** The exit code of a command that was cut off, because the broker ended before it. */
export const CUT_OFF = 125;

/** The argument with which the program passes on its input, too. */
const WITH_INPUT = "--bridge";

/**
 * Runs in the place of an approved command or of a program: it names its grant to the broker, and passes on output and exit
 * code, and for a program the input, with which it ends. It does not know what runs. A process that reads the token of a
 * command can only run the approved command, and only once; one that reads that of a program can only use it.
 */
const PROGRAM = `"use strict";
const given = process.argv.slice(2);
const isBridge = given[0] === "${WITH_INPUT}";
const [token = "", ...others] = isBridge ? given.slice(1) : given;
const end = (code, text) => {
  process.stderr.write("flint-run: " + text + "\\n", () => process.exit(code));
};
if (token === "" || others.length > 0) return end(${REFUSED}, "usage: flint-run GRANT. The grant alone says what is run.");
const socket = require("node:net").connect(require("node:path").join(__dirname, "${SOCKET_NAME}"));
let rest = Buffer.alloc(0);
let code;
const pass = (stream, bytes) => {
  if (stream.write(bytes)) return;
  socket.pause();
  stream.once("drain", () => socket.resume());
};
const frame = (kind, bytes) => {
  if (kind === ${FRAME.stdout}) pass(process.stdout, bytes);
  else if (kind === ${FRAME.stderr}) pass(process.stderr, bytes);
  else if (kind === ${FRAME.exit}) code = bytes.readInt32BE(0);
};
socket.once("connect", () => {
  socket.write(JSON.stringify({ token, cwd: process.cwd() }) + "\\n");
  if (isBridge) process.stdin.on("error", () => socket.end()).pipe(socket);
});
socket.on("data", (bytes) => {
  rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
  while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
    const length = rest.readUInt32BE(1);
    frame(rest[0], rest.subarray(5, 5 + length));
    rest = rest.subarray(5 + length);
  }
});
socket.once("error", () => undefined);
socket.once("close", () => {
  if (code === undefined) return end(${CUT_OFF}, "Flint ended this command before it was done.");
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
});
for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]])
  process.on(signal, () => {
    socket.destroy();
    process.exit(status);
  });
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => socket.destroy());
`;

/**
 * Puts the check for a grant before the command in the JSON that Codex gives to a PreToolUse hook, which is on one line.
 * Quotes inside of strings are escaped there, so only the fields themselves match. Anything else is left as it is.
 */
const HOOK = `exec /bin/sed -n -E 's#^.*"tool_input":\\{"command":"(([^"\\\\]|\\\\.)*)"\\}.*"tool_use_id":"([A-Za-z0-9_-]{1,200})".*$#{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"${GRANT_CHECK.before}\\3${GRANT_CHECK.between.replaceAll("&", "\\&")}\\3\\\\n\\1"}}}#p'
`;

/** Makes the private folder of a broker, with its programs in it. */
export async function makeBrokerFolder(folder: string): Promise<void> {
  await mkdir(join(folder, basename(GRANTS_FOLDER)), { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  await writeFile(join(folder, PROGRAM_NAME), PROGRAM, { mode: 0o600, flag: "wx" });
  await writeFile(join(folder, basename(BROKER_HOOK)), HOOK, { mode: 0o600, flag: "wx" });
}

/** Stores a grant under a name, so that the check before a command finds it. */
export async function storeGrant(folder: string, name: string, line: string): Promise<void> {
  const path = join(folder, basename(GRANTS_FOLDER), name);
  // Complete before it is seen.
  await writeFile(`${path}.next`, `exec ${line}\n`, { mode: 0o600, flag: "wx" });
  await rename(`${path}.next`, path);
}

/** The program and arguments that connect to a bridged program, in a sandbox with the broker. */
export function bridgeCommand(node: string, token: string): readonly string[] {
  return [node, join(BROKER_FOLDER, PROGRAM_NAME), WITH_INPUT, token];
}

/** The command line that runs a granted command, for a shell in a sandbox with the broker. */
export function grantCommandLine(node: string, token: string): string {
  return [node, join(BROKER_FOLDER, PROGRAM_NAME), token].map(shellQuote).join(" ");
}
