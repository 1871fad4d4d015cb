#!/usr/bin/env node
// Takes the place of the `codex` program where a client can be given nothing but a path.
process.argv.splice(2, 0, "codex-shim");
await import("./flint.js");
