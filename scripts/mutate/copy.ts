import { execFileSync } from "node:child_process";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A copy of the workspace with its uncommitted changes, in which faults can be planted. */
export class WorkspaceCopy {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Copies every file that git knows or would add, and links the installed packages. */
  static make(root: string): WorkspaceCopy {
    // Not below node_modules, whose files vitest does not transform; real agents avoid /tmp, but none of these tests runs one.
    const path = mkdtempSync(join(tmpdir(), "flint-mutate-"));
    const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      ...{ cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
    });
    for (const file of new Set(listed.split("\0").filter((name) => name !== ""))) {
      // A file that was deleted and not committed is listed, too.
      if (lstatSync(join(root, file), { throwIfNoEntry: false }) === undefined) continue;
      mkdirSync(dirname(join(path, file)), { recursive: true });
      cpSync(join(root, file), join(path, file), { recursive: true, verbatimSymlinks: true });
    }
    linkPackages(join(root, "node_modules"), join(path, "node_modules"));
    return new WorkspaceCopy(path);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Links each package separately: those of the workspace have to lead into the copy. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name.startsWith("@")) linkPackages(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    // Caches of vitest would be written through a link.
    else if (!entry.name.startsWith(".vite")) symlinkSync(source, target);
  }
}
