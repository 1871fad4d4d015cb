"use strict";
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");
const { crc32 } = require("node:zlib");

/** What belongs to one V8 on one kind of machine; another one would have to refuse it. */
const COMPILED = `compiled/${process.versions.v8}-${process.platform}-${process.arch}`;
const CHECKSUM_BYTES = 4;
/** What stack traces call the files. It is compiled with them, so it cannot be where they lie on this machine. */
const NAME = "flint/dist";

/**
 * The files of the built command. They are loaded as `require` would load them, except that V8 is handed what it made
 * of them when the command was built, where that is there and whole. Otherwise it compiles them, which takes longer
 * and gives the same program. Nothing is written while the command runs.
 */
class CompiledProgram {
  #folder;
  #modules = new Map();
  #scripts = new Map();

  /** The folder that the build has made. */
  constructor(folder) {
    this.#folder = folder;
  }

  /** What a file of the program exports. */
  load(name) {
    const known = this.#modules.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.#modules.set(name, module);
    // A file that failed to load may be tried again.
    try {
      this.#run(name, module);
    } catch (error) {
      this.#modules.delete(name);
      throw error;
    }
    return module.exports;
  }

  /** The loaded files of which V8 has taken what was compiled before. */
  get taken() {
    return [...this.#scripts.keys()].filter((name) => this.#isTaken(name));
  }

  /** The loaded files that V8 had to compile. */
  get compiled() {
    return [...this.#scripts.keys()].filter((name) => !this.#isTaken(name));
  }

  /** Keeps what V8 has compiled so far, beside the code. Part of the build. */
  keepCompiled() {
    for (const [name, script] of this.#scripts) {
      const source = readFileSync(join(this.#folder, name));
      const compiled = script.createCachedData();
      const path = this.#compiledPath(name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.concat([checksum(source, compiled), compiled]));
    }
  }

  #isTaken(name) {
    return this.#scripts.get(name).cachedDataRejected === false;
  }

  #run(name, module) {
    const filename = join(this.#folder, name);
    const source = readFileSync(filename);
    const script = new Script(
      `(function (exports, require, module, __filename, __dirname) { ${source.toString()}\n})`,
      { filename: `${NAME}/${name}`, cachedData: this.#kept(name, source) },
    );
    this.#scripts.set(name, script);
    const requireHere = (id) => (id.startsWith(".") ? this.load(join(dirname(name), id)) : require(id));
    script.runInThisContext()(module.exports, requireHere, module, filename, dirname(filename));
  }

  #kept(name, source) {
    const kept = readIfThere(this.#compiledPath(name));
    const compiled = kept?.subarray(CHECKSUM_BYTES);
    // V8 itself looks at little more than the length of the source.
    return kept !== undefined && checksum(source, compiled).equals(kept.subarray(0, CHECKSUM_BYTES))
      ? compiled
      : undefined;
  }

  #compiledPath(name) {
    return join(this.#folder, COMPILED, `${name}.bin`);
  }
}

function checksum(source, compiled) {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32LE(crc32(compiled, crc32(source)));
  return bytes;
}

function readIfThere(path) {
  try {
    return readFileSync(path);
  } catch {
    // Nothing was compiled for this Node, or not this file.
    return undefined;
  }
}

module.exports = { CompiledProgram };
