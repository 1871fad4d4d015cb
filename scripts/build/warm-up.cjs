// Runs the command once and keeps what V8 has compiled for it.
"use strict";
const { CompiledProgram } = require("../../packages/cli/bin/compiled-program.cjs");

const [, , dist, ...args] = process.argv;
const umask = process.umask();
const program = new CompiledProgram(dist);
void program
  .load("flint.cjs")
  .main(args)
  .then((exitCode) => {
    // The command keeps what it writes to its user; this is for whoever may read the code.
    process.umask(umask);
    program.keepCompiled();
    process.exit(exitCode);
  });
