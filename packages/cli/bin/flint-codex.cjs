#!/usr/bin/env node
// Replaces the `codex` program for clients that accept nothing but a path.
"use strict";
process.argv.splice(2, 0, "codex-shim");
require("./flint.cjs");
