import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first of the given programs that is on PATH, or undefined. */
export function onPath(...names) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Reports whether a file is there and may be run. */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not ours to run: both mean no.
  }
}

/** Runs a program to its end; `ok` is false when it cannot start, fails or takes too long. */
export function run(command, args, { seconds = 20, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, seconds * 1000);
    const end = (ok, reason) => {
      clearTimeout(timer);
      resolve({ ok, output: output.trim(), reason: late ? `no end after ${seconds} s` : reason });
    };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    child.once("error", (error) => end(false, error.message));
    child.once("close", (code) => end(code === 0, output.trim().split("\n").at(-1) ?? ""));
  });
}

/** Runs a program that has to succeed; the error says what it was for. */
export async function must(purpose, command, args, options) {
  const result = await run(command, args, options);
  if (!result.ok) throw new Error(`${purpose} failed: ${result.reason || command}`);
  return result.output;
}
