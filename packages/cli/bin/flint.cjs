#!/usr/bin/env node
// CommonJS, as is what the build makes: Node starts it quicker, and takes what was compiled at build time with it.
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
  // Whatever is left open has had its time; output that is still on its way is written first.
  process.stdout.write("", () => process.exit());
}

function notBuilt() {
  process.stderr.write('flint is not built. Run "npm run build" in its folder.\n');
  process.exitCode = 1;
}
