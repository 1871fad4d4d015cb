import { LineFile, type LineFileOptions } from "@flint/host/line-file";
import { isRecord, type TaskEvent } from "@flint/protocol";
import { readStoredEvent } from "../store/stored-event.ts";
import type { StoredEvents } from "./task-backup.ts";

/** The tasks that a server accepted for a fleet, a line for each event. */
export class AcceptedFile {
  readonly #file: LineFile;
  /** The content of the file when it was opened. */
  readonly stored: ReadonlyMap<string, readonly TaskEvent[]>;

  private constructor(file: LineFile, stored: ReadonlyMap<string, readonly TaskEvent[]>) {
    this.#file = file;
    this.stored = stored;
  }

  static async open(
    path: string,
    options: Pick<LineFileOptions, "files" | "compactFrom"> = {},
  ): Promise<AcceptedFile> {
    const stored = new Map<string, TaskEvent[]>();
    const file = await LineFile.open({ path, ...options }, (line) => {
      const read = readLine(line);
      if (read === undefined) return;
      const known = stored.get(read.task);
      if ("forgotten" in read) stored.delete(read.task);
      else if (known === undefined) stored.set(read.task, [read.event]);
      else known.push(read.event);
    });
    const accepted = new AcceptedFile(file, stored);
    accepted.#compact(() => [...stored].map(([task, events]) => ({ task, events })));
    return accepted;
  }

  /** Returns once the disk has it. Throws if it cannot be written; then nothing of it counts. */
  append(tasks: readonly StoredEvents[]): void {
    this.#file.append(linesOf(tasks));
    this.#file.syncNow();
  }

  /** Removes a task; `kept` are those that stay. The file is rewritten when these are the smaller part of it. */
  forget(task: string, kept: () => readonly StoredEvents[]): void {
    this.#file.append([JSON.stringify({ task, forgotten: true })]);
    this.#compact(kept);
  }

  close(): void {
    this.#file.close();
  }

  #compact(kept: () => readonly StoredEvents[]): void {
    const count = () => kept().reduce((sum, { events }) => sum + events.length, 0);
    this.#file.compact(count, () => linesOf(kept()));
  }
}

type AcceptedLine =
  | { readonly task: string; readonly event: TaskEvent }
  | { readonly task: string; readonly forgotten: true };

function linesOf(tasks: readonly StoredEvents[]): string[] {
  return tasks.flatMap(({ task, events }) => events.map((event) => JSON.stringify({ task, event })));
}

function readLine(line: string): AcceptedLine | undefined {
  // Expected: a line that was damaged; the task is compared with Redis anyway.
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value.task !== "string") return undefined;
    if (value.forgotten === true) return { task: value.task, forgotten: true };
    const event = readStoredEvent(value.event);
    return event === undefined ? undefined : { task: value.task, event };
  } catch {
    return undefined;
  }
}
