import { readFileSync, writeFileSync } from "node:fs";

const KILOBYTES_PER_MEGABYTE = 1024;
const RESET_PEAK = "5";

/** Watches how much memory a process takes, from a moment on. Linux only. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #before: number;

  /** Begins now: what the process has at this moment is what growth is measured from. */
  constructor(pid: number) {
    this.#pid = pid;
    writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
    this.#before = statusMegabytes(pid, "VmRSS");
  }

  /** The most it had since the beginning. */
  get peak(): number {
    return statusMegabytes(this.#pid, "VmHWM");
  }

  /** Growth from the beginning to the peak. */
  get growth(): number {
    return this.peak - this.#before;
  }
}

function statusMegabytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const value = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  if (value === undefined) throw new Error(`/proc/${pid}/status does not say ${field}.`);
  return Number(value) / KILOBYTES_PER_MEGABYTE;
}
