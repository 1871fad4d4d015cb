// A fake agent: plays a script of JSON lines over stdio. Plain JavaScript, so that it starts as fast as node does.
// Usage: node player.mjs SCRIPT [ARGUMENTS...]. The steps are described in fake-agent.ts.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** @typedef {Record<string, unknown>} Step */

const BAD_SCRIPT = 64;
const CHUNK = 64 * 1024;

/** The values that a script may refer to by `$name`; `expect` adds to them. */
const known = new Map(
  Object.entries({
    argv: process.argv.slice(3),
    cwd: process.cwd(),
    pid: process.pid,
    env: { ...process.env },
  }),
);

/** The lines received before they were expected, and the reader that waits for another. */
class Inbox {
  /** @type {unknown[]} */
  #lines = [];
  #ended = false;
  #wake = () => {};

  constructor() {
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on("line", (line) => this.#add(line));
    lines.on("close", () => this.#end());
  }

  /** @param {unknown} pattern */
  async take(pattern) {
    for (;;) {
      const at = this.#lines.findIndex((line) => matches(pattern, line, new Map()));
      if (at !== -1) return this.#lines.splice(at, 1)[0];
      if (this.#ended) return undefined;
      await new Promise((resolve) => {
        this.#wake = () => resolve(undefined);
      });
    }
  }

  /** @param {string} line */
  #add(line) {
    this.#lines.push(parseLine(line));
    this.#wake();
  }

  #end() {
    this.#ended = true;
    this.#wake();
  }
}

/** @param {string} line */
function parseLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    // A line that is not JSON can still be expected, as the text it is.
    return line;
  }
}

/**
 * Reports whether a value has everything that a pattern asks for; `$name` fits anything and is remembered.
 * @param {unknown} pattern
 * @param {unknown} value
 * @param {Map<string, unknown>} captured
 * @returns {boolean}
 */
function matches(pattern, value, captured) {
  if (typeof pattern === "string" && /^\$\w+$/.test(pattern)) {
    const name = pattern.slice(1);
    if (known.has(name)) return JSON.stringify(known.get(name)) === JSON.stringify(value);
    captured.set(name, value);
    return value !== undefined;
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) return false;
    return pattern.every((part, index) => matches(part, value[index], captured));
  }
  if (typeof pattern !== "object" || pattern === null) return pattern === value;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(pattern).every(([key, part]) => matches(part, Reflect.get(value, key), captured));
}

/**
 * A template with what is known filled in: a text that is only `$name.path` becomes that value, `{{name.path}}`
 * inside a text becomes its text.
 * @param {unknown} template
 * @returns {unknown}
 */
function filled(template) {
  if (typeof template === "string") {
    if (/^\$\w+(\.\w+)*$/.test(template)) return lookUp(template.slice(1));
    return template.replace(/\{\{(\w+(?:\.\w+)*)\}\}/g, (_, path) => String(lookUp(path)));
  }
  if (Array.isArray(template)) return template.map(filled);
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, filled(value)]));
}

/** @param {string} path */
function lookUp(path) {
  const [name = "", ...keys] = path.split(".");
  if (!known.has(name)) throw new Error(`nothing is known as $${name}`);
  return keys.reduce((value, key) => Object(value)[key], known.get(name));
}

/**
 * Writes and waits while the other side does not read.
 * @param {NodeJS.WritableStream} stream
 * @param {string} text
 */
async function write(stream, text) {
  if (!stream.write(text)) await once(stream, "drain");
}

/**
 * Writes a text many times over without holding all of it.
 * @param {NodeJS.WritableStream} stream
 * @param {string} text
 * @param {number} times
 */
async function writeTimes(stream, text, times) {
  const perChunk = Math.max(1, Math.floor(CHUNK / Math.max(1, text.length)));
  for (let left = times; left > 0; left -= perChunk)
    await write(stream, text.repeat(Math.min(left, perChunk)));
}

/** @param {number} code */
async function leave(code) {
  await new Promise((resolve) => process.stdout.write("", resolve));
  await new Promise((resolve) => process.stderr.write("", resolve));
  process.exit(code);
}

function forever() {
  setInterval(() => {}, 1 << 30);
  return new Promise(() => {});
}

const inbox = new Inbox();

/** @type {Record<string, (step: Step) => unknown>} */
const STEPS = {
  async expect(step) {
    const line = await inbox.take(step.expect);
    if (line === undefined) return leave(Number(step.atEnd ?? 0));
    const captured = new Map();
    matches(step.expect, line, captured);
    for (const [name, value] of captured) known.set(name, value);
  },
  send: (step) => write(process.stdout, `${JSON.stringify(filled(step.send))}\n`),
  async raw(step) {
    await writeTimes(process.stdout, String(filled(step.raw)), Number(step.times ?? 1));
    if (step.newline !== false) await write(process.stdout, "\n");
  },
  stderr: (step) => writeTimes(process.stderr, String(filled(step.stderr)), Number(step.times ?? 1)),
  forget(step) {
    for (const name of [step.forget].flat()) known.delete(String(name));
  },
  async forever(step) {
    const names = new Set(known.keys());
    for (;;) {
      await playAll(/** @type {Step[]} */ (step.forever));
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    }
  },
  spawn(step) {
    const [program, ...given] = /** @type {string[]} */ (filled(step.spawn));
    const child = spawn(String(program), given, { stdio: "ignore", detached: step.detached === true });
    known.set("child", child.pid);
  },
  ignoreSignals(step) {
    for (const signal of /** @type {NodeJS.Signals[]} */ (step.ignoreSignals)) process.on(signal, () => {});
  },
  // Closes the descriptor only: shutting down the stream would end it for the wrappers of a sandbox, too.
  closeOutput: () => closeSync(1),
  exit: (step) => leave(Number(step.exit)),
  kill: () => process.kill(process.pid, "SIGKILL"),
  hang: forever,
};

/** @param {Step} step */
async function play(step) {
  const name = Object.keys(STEPS).find((key) => Object.hasOwn(step, key));
  if (name === undefined) throw new Error(`no such step: ${JSON.stringify(step)}`);
  const { repeat = 1 } = step;
  for (let index = 0; index < Number(repeat); index += 1) {
    if (step.repeat !== undefined) known.set("index", index);
    await STEPS[name]?.(step);
  }
  if (step.repeat !== undefined) known.delete("index");
}

/** @param {Step[]} steps */
async function playAll(steps) {
  for (const step of steps) await play(step);
}

function readScript() {
  const path = process.argv[2];
  if (path === undefined) throw new Error("give the path of a script");
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.startsWith("//")).map((line) => JSON.parse(line));
}

// The reader may exit before the script does; that does not deserve a stack trace.
process.stdout.on("error", () => process.exit(0));
process.stderr.on("error", () => {});
try {
  await playAll(readScript());
  await leave(0);
} catch (error) {
  // A mistake in a script must not look like an agent that behaves badly on purpose.
  process.stderr.write(`fake agent: ${error instanceof Error ? error.message : String(error)}\n`);
  await leave(BAD_SCRIPT);
}
