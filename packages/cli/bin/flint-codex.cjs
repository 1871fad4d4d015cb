#!/usr/bin/env node
// Takes the place of the `codex` program where a client can be given nothing but a path.
"use strict";
process.argv.splice(2, 0, "codex-shim");
require("./flint.cjs");
