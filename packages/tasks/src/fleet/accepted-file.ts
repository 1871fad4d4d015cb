import { type FileSystem, LineFile, type OpenedLineFile } from "@flint/host/line-file";
import { isRecord, type TaskEvent } from "@flint/protocol";
import { readStoredEvent } from "../store/stored-event.ts";
import type { StoredEvents } from "./task-backup.ts";

/** The tasks that a server accepted for a fleet, a line for each event. */
export class AcceptedFile {
  readonly #file: LineFile;
  /** What it held when it was opened. */
  readonly stored: ReadonlyMap<string, readonly TaskEvent[]>;

  private constructor({ file, lines }: OpenedLineFile) {
    this.#file = file;
    const stored = new Map<string, TaskEvent[]>();
    for (const line of lines) {
      const read = readLine(line);
      if (read !== undefined) stored.set(read.task, [...(stored.get(read.task) ?? []), read.event]);
    }
    this.stored = stored;
  }

  static async open(path: string, files?: FileSystem): Promise<AcceptedFile> {
    return new AcceptedFile(await LineFile.open({ path, files }));
  }

  /** Returns once the disk has it. Throws if it cannot be written; then nothing of it counts. */
  append(tasks: readonly StoredEvents[]): void {
    this.#file.append(
      tasks.flatMap(({ task, events }) => events.map((event) => JSON.stringify({ task, event }))),
    );
    this.#file.syncNow();
  }

  close(): void {
    this.#file.close();
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
