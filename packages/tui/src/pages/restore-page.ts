import { resolve } from "node:path";
import type { FileRestore, Result } from "@flint/protocol";
import { type DiffBlock, diffBlock, size } from "@flint/view";
import { changesPage } from "./diff-page.ts";
import type { Pager } from "./pager.ts";

/** The effect of a rewind on files, as the server previews it. */
export type RestorePreview = Pick<Result<"thread/revert">, "files" | "conflicts" | "notSaved">;

/** Shows the changes that a rewind would make to each file, and the files that it would leave as they are. */
export function restorePage(preview: RestorePreview, cwd: string): Pager {
  const { files = [], conflicts = [], notSaved = [] } = preview;
  const left = [...conflicts, ...notSaved].map(
    ({ path, message }): DiffBlock => noted("modify", resolve(cwd, path ?? "."), `Not restored: ${message}`),
  );
  const blocks = [...files.map((file) => restoreBlock(file, cwd)), ...left];
  return changesPage({
    title: "What restoring the files would change",
    empty: "No files would change.",
    status: "inProgress",
    changes: () => ({ blocks, cwd }),
  });
}

const CHANGES = { create: "add", restore: "modify", delete: "delete" } as const;

function restoreBlock(file: FileRestore, cwd: string): DiffBlock {
  const path = resolve(cwd, file.path);
  const kind = CHANGES[file.action];
  if (file.diff !== undefined) return diffBlock({ path, kind, diff: file.diff });
  const sizes = [file.sizeBefore, file.sizeAfter].map((bytes) =>
    bytes === undefined ? "none" : size(bytes),
  );
  const what =
    file.kind === "file" ? `Not text, or too large to compare: ${sizes.join(" → ")}` : `A ${file.kind}`;
  return noted(kind, path, what);
}

function noted(change: DiffBlock["change"], path: string, text: string): DiffBlock {
  return { kind: "diff", change, path, lines: [{ kind: "note", text: `  ${text}` }], added: 0, removed: 0 };
}
