/**
 * Claude Code whose turns end at a usage limit while a file exists: the real program works, and the frames at the end of
 * the turn are those of a rejected request. Usage: limited-claude.mjs FILE PROGRAM ARGS…
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";

const [file = "", program = "", ...args] = process.argv.slice(2);
const RESETS_IN_SECONDS = 7200;

/** The frames that Claude Code writes instead of a result once the limit of five hours is reached. */
function limitFrames(result) {
  const resetsAt = Math.floor(Date.now() / 1000) + RESETS_IN_SECONDS;
  const of = { uuid: result.uuid, session_id: result.session_id };
  const text = "You've hit your limit · resets 1am (Europe/Berlin)";
  return [
    {
      type: "rate_limit_event",
      rate_limit_info: { status: "rejected", resetsAt, rateLimitType: "five_hour", isUsingOverage: false },
      ...of,
    },
    { ...result, subtype: "success", is_error: true, api_error_status: 429, result: text },
  ];
}

const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(child.stdin);
child.stdin.on("error", () => undefined);
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));
createInterface({ input: child.stdout }).on("line", (line) => {
  const isRejected = line.includes('"type":"result"') && existsSync(file);
  const lines = isRejected ? limitFrames(JSON.parse(line)).map((frame) => JSON.stringify(frame)) : [line];
  for (const each of lines) process.stdout.write(`${each}\n`);
});
child.on("close", (code) => process.exit(code ?? 1));
