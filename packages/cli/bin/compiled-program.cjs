"use strict";
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");
const { crc32 } = require("node:zlib");

/** The code cache is valid for one version of V8 on one platform. */
const CACHE = `compiled/${process.versions.v8}-${process.platform}-${process.arch}`;
const CHECKSUM_BYTES = 4;
/** The folder in stack traces. It is part of the cached code, so it cannot be the path on this machine. */
const TRACE_FOLDER = "flint/dist";

/**
 * The files of the built command. They are loaded as `require` would load them, except that V8 gets the code it compiled
 * when the command was built. If that is missing or damaged, V8 compiles the file again. Nothing is written at run time.
 */
class CompiledProgram {
  #folder;
  #modules = new Map();
  #scripts = new Map();

  /** Takes the output folder of the build. */
  constructor(folder) {
    this.#folder = folder;
  }

  /** Loads a file of the program and returns its exports. */
  load(name) {
    const known = this.#modules.get(name);
    if (known !== undefined) return known.exports;
    // Without a prototype, V8 does not lay the object out again for each of the hundreds of exports.
    const module = { exports: Object.create(null) };
    this.#modules.set(name, module);
    // A file that failed to load can be loaded again.
    try {
      this.#run(name, module);
    } catch (error) {
      this.#modules.delete(name);
      throw error;
    }
    return module.exports;
  }

  /** The loaded files whose cached code V8 has accepted. */
  get cached() {
    return [...this.#scripts.keys()].filter((name) => this.#isCached(name));
  }

  /** The loaded files that V8 has compiled. */
  get compiled() {
    return [...this.#scripts.keys()].filter((name) => !this.#isCached(name));
  }

  /** Writes the code that V8 has compiled so far beside the sources. Part of the build. */
  writeCache() {
    for (const [name, script] of this.#scripts) {
      const source = readFileSync(join(this.#folder, name));
      const compiled = script.createCachedData();
      const path = this.#cachePath(name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.concat([checksum(source, compiled), compiled]));
    }
  }

  #isCached(name) {
    return this.#scripts.get(name).cachedDataRejected === false;
  }

  #run(name, module) {
    const filename = join(this.#folder, name);
    const source = readFileSync(filename);
    const script = new Script(
      `(function (exports, require, module, __filename, __dirname) { ${source.toString()}\n})`,
      { filename: `${TRACE_FOLDER}/${name}`, cachedData: this.#readCache(name, source) },
    );
    this.#scripts.set(name, script);
    const requireHere = (id) => (id.startsWith(".") ? this.load(join(dirname(name), id)) : require(id));
    script.runInThisContext()(module.exports, requireHere, module, filename, dirname(filename));
  }

  #readCache(name, source) {
    const entry = readIfPresent(this.#cachePath(name));
    const compiled = entry?.subarray(CHECKSUM_BYTES);
    // V8 itself checks little more than the length of the source.
    return entry !== undefined && checksum(source, compiled).equals(entry.subarray(0, CHECKSUM_BYTES))
      ? compiled
      : undefined;
  }

  #cachePath(name) {
    return join(this.#folder, CACHE, `${name}.bin`);
  }
}

function checksum(source, compiled) {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32LE(crc32(compiled, crc32(source)));
  return bytes;
}

function readIfPresent(path) {
  try {
    return readFileSync(path);
  } catch {
    // There is no cache for this Node, or not for this file.
    return undefined;
  }
}

module.exports = { CompiledProgram };
