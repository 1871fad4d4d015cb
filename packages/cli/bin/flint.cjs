#!/usr/bin/env node
// CommonJS, like the output of the build: Node starts it faster, and can load compiled code for it.
"use strict";
const { existsSync, writeSync } = require("node:fs");
const { join } = require("node:path");

const args = process.argv.slice(2);
const dist = join(__dirname, "../dist");
if (!isVersionPrinted()) {
  if (existsSync(join(dist, "flint.cjs"))) void run();
  else notBuilt();
}

/** The version takes a fraction of the time without the program. */
function isVersionPrinted() {
  if (args[0] !== "--version" && args[0] !== "-V") return false;
  try {
    writeSync(1, `${require("../package.json").version}\n`);
    return true;
  } catch {
    // The output cannot be written: the program reports why.
    return false;
  }
}

async function run() {
  const { CompiledProgram } = require("./compiled-program.cjs");
  const { isatty } = require("node:tty");
  const program = new CompiledProgram(dist);
  // At a terminal, a session is seen before the program is loaded.
  const firstFrame = isatty(1) ? program.load("first-frame.cjs").showFirstFrame(args) : undefined;
  process.exitCode = await program.load("flint.cjs").main(args, firstFrame);
  // Exits even if handles are still open, after pending output is written.
  process.stdout.write("", () => process.exit());
}

function notBuilt() {
  process.stderr.write('flint is not built. Run "npm run build" in its folder.\n');
  process.exitCode = 1;
}
