import { type FileSystem, NODE_FILES } from "@flint/host/line-file";

/** A disk that becomes full: what does not fit is written in part, and then nothing more. */
export class SmallDisk {
  /** The number of bytes that can still be written. */
  room = Number.POSITIVE_INFINITY;

  readonly files: FileSystem = {
    ...NODE_FILES,
    writeSync: (file, bytes) => {
      if (this.room === 0)
        throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      const taken = bytes.subarray(0, this.room);
      this.room -= taken.byteLength;
      return NODE_FILES.writeSync(file, taken);
    },
  };
}
