// Runs the command once and writes the code that V8 compiled for it.
"use strict";
const { CompiledProgram } = require("../../packages/cli/bin/compiled-program.cjs");

const [, , dist, ...args] = process.argv;
const umask = process.umask();
const program = new CompiledProgram(dist);
void program
  .load("flint.cjs")
  .main(args)
  .then((exitCode) => {
    // The command makes its files private; the cache may be read by everyone who may read the code.
    process.umask(umask);
    program.writeCache();
    process.exit(exitCode);
  });
