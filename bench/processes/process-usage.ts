import { readdirSync, readFileSync } from "node:fs";

const NANOSECONDS_PER_MICROSECOND = 1000;
const NANOSECONDS_PER_MILLISECOND = 1_000_000;
const KILOBYTES_PER_MEGABYTE = 1024;

/** The processor time that all threads of a process have used so far, in microseconds. Needs Linux. */
export function processorMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + threadMicroseconds(pid, thread), 0);
}

/**
 * Returns the number of times that a thread of a process has waited for something so far, and so was woken
 * up. Needs Linux.
 */
export function wakeUps(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce(
    (sum, thread) => sum + statusNumber(`${pid}/task/${thread}`, "voluntary_ctxt_switches"),
    0,
  );
}

/** The memory that a process holds now, in MB. Needs Linux. */
export function residentMegabytes(pid: number): number {
  return statusMegabytes(pid, "VmRSS");
}

/** The number of processes that a process has started that still run, without those that they started. Needs Linux. */
export function runningChildren(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
  return lists.join(" ").split(" ").filter(Boolean).length;
}

/** The most memory that a process has held at any moment, in MB. Needs Linux. */
export function peakMegabytes(pid: number): number {
  return statusMegabytes(pid, "VmHWM");
}

/** Counted by the scheduler to the nanosecond; the fields of `stat` would only count hundredths of a second. */
function threadMicroseconds(pid: number, thread: string): number {
  const [nanoseconds = ""] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / NANOSECONDS_PER_MICROSECOND;
}

/**
 * Returns the time that the main thread of this process has waited for a processor that had other work so
 * far, in milliseconds. Needs Linux.
 */
export function waitedForProcessorMs(): number {
  const [, nanoseconds = ""] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / NANOSECONDS_PER_MILLISECOND;
}

function statusMegabytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  return statusNumber(String(pid), field) / KILOBYTES_PER_MEGABYTE;
}

function statusNumber(process: string, field: string): number {
  const status = readFileSync(`/proc/${process}/status`, "utf8");
  const found = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1];
  if (found === undefined) throw new Error(`/proc/${process}/status does not have ${field}.`);
  return Number(found);
}
