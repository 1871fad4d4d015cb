import { isRecord } from "@flint/protocol";
import type { Entry } from "../scan/entry.ts";

const HASH = /^[0-9a-f]{64}$/;

/** Whether a value that was read from a file is an entry. */
export function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  const { kind, hash, size, mode, target, why, stamp } = value;
  switch (kind) {
    case "file":
      return (
        typeof hash === "string" && HASH.test(hash) && typeof size === "number" && typeof mode === "number"
      );
    case "link":
      return typeof target === "string";
    case "folder":
      return typeof mode === "number";
    case "unsaved":
      return typeof why === "string" && typeof stamp === "string";
    default:
      return false;
  }
}

/** Whether a value that was read from a file tells what was at a path; null stands for nothing. */
export function isStoredState(value: unknown): value is Entry | null {
  return value === null || isEntry(value);
}
