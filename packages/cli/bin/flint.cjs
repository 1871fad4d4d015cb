#!/usr/bin/env node
// CommonJS, like the output of the build: Node starts it faster, and can load compiled code for it.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { CompiledProgram } = require("./compiled-program.cjs");

const dist = join(__dirname, "../dist");
if (existsSync(join(dist, "flint.cjs"))) void run();
else notBuilt();

async function run() {
  const { main } = new CompiledProgram(dist).load("flint.cjs");
  process.exitCode = await main(process.argv.slice(2));
  // Exits even if handles are still open, after pending output is written.
  process.stdout.write("", () => process.exit());
}

function notBuilt() {
  process.stderr.write('flint is not built. Run "npm run build" in its folder.\n');
  process.exitCode = 1;
}
