// Runs the command once and writes the code that V8 compiled for it.
"use strict";
const { CompiledProgram } = require("../../packages/cli/bin/compiled-program.cjs");

const [, , dist, ...args] = process.argv;
const umask = process.umask();
const program = new CompiledProgram(dist);
// Without arguments the command opens a session, of which only the first frame can be drawn here.
if (args.length === 0) {
  drawFirstFrame();
  finish(0);
} else void program.load("flint.cjs").main(args).then(finish);

/** The streams pretend to be a terminal. The build may run without one, so the frame is drawn whatever was found out. */
function drawFirstFrame() {
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true;
  Object.assign(process.stdout, { columns: 80, rows: 24 });
  process.stdin.setRawMode = () => process.stdin;
  const { showFirstFrame, drawEarlyFrame } = program.load("first-frame.cjs");
  (showFirstFrame(args) ?? drawEarlyFrame()).erase();
}

function finish(exitCode) {
  // The command makes its files private; the cache may be read by everyone who may read the code.
  process.umask(umask);
  program.writeCache();
  process.exit(exitCode);
}
