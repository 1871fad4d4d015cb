import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord, type TaskEvent } from "@flint/protocol";
import { readStoredEvent } from "../store/stored-event.ts";
import type { StoredEvents } from "./task-backup.ts";

/** The tasks that a server accepted for a fleet, a line for each event. */
export class AcceptedFile {
  readonly #file: number;
  /** What it held when it was opened. */
  readonly stored: ReadonlyMap<string, readonly TaskEvent[]>;

  private constructor(file: number, stored: ReadonlyMap<string, readonly TaskEvent[]>) {
    this.#file = file;
    this.stored = stored;
  }

  static async open(path: string): Promise<AcceptedFile> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const text = readIfPresent(path);
    const end = text.lastIndexOf("\n") + 1;
    const stored = new Map<string, TaskEvent[]>();
    for (const line of text.slice(0, end).split("\n")) {
      const read = readLine(line);
      if (read !== undefined) stored.set(read.task, [...(stored.get(read.task) ?? []), read.event]);
    }
    const file = openSync(path, "a", 0o600);
    if (end < text.length) ftruncateSync(file, Buffer.byteLength(text.slice(0, end)));
    return new AcceptedFile(file, stored);
  }

  /** Returns once the disk has it. */
  append(tasks: readonly StoredEvents[]): void {
    const lines = tasks.flatMap(({ task, events }) =>
      events.map((event) => `${JSON.stringify({ task, event })}\n`),
    );
    writeSync(this.#file, lines.join(""));
    fdatasyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

function readLine(line: string): { readonly task: string; readonly event: TaskEvent } | undefined {
  // Expected: a line that was damaged; the task is compared with Redis anyway.
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value.task !== "string") return undefined;
    const event = readStoredEvent(value.event);
    return event === undefined ? undefined : { task: value.task, event };
  } catch {
    return undefined;
  }
}

function readIfPresent(path: string): string {
  // Expected: there is none yet.
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
