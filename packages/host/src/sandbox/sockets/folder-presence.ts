import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { createServer } from "node:net";
import { mintId } from "@flint/protocol";
import { boundNames } from "./bound-sockets.ts";

/** `holds`: commands run in the folder. `clears`: placeholders are being removed from it. `listens`: a server has a socket in it. */
type Meaning = "holds" | "clears" | "listens";

/** A sign that hangs until it is taken down or its process ends, in whatever way. */
export interface Sign {
  takeDown(): Promise<void>;
}

/** The signs that processes of this machine hang out about one folder: names of sockets, which the kernel keeps. */
export class FolderSigns {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Every path of a folder leads to the same signs. */
  static async of(folder: string): Promise<FolderSigns> {
    const { dev, ino } = await stat(folder, { bigint: true });
    return new FolderSigns(`${dev}-${ino}`);
  }

  /** What the names of such signs begin with among the bound names, whichever folder they are about. */
  static prefix(meaning: Meaning): string {
    return `@flint-${meaning}-`;
  }

  /** What the names of such signs about this folder begin with; with a name in the folder, those about that name. */
  prefix(meaning: Meaning, name?: string): string {
    const about =
      name === undefined ? "" : `${createHash("sha256").update(name).digest("hex").slice(0, 16)}-`;
    return `${FolderSigns.prefix(meaning)}${this.#folder}-${about}`;
  }

  /** Hangs one out; with a name in the folder, it is about that name. */
  hangOut(meaning: Meaning, name?: string): Promise<Sign> {
    const server = createServer((caller) => caller.destroy());
    server.unref();
    const takeDown = () => new Promise<void>((resolve) => server.close(() => resolve()));
    return new Promise((resolve) => {
      // Expected: nothing more may be opened. The command then runs without the sign, as it would if it were alone.
      server.once("error", () => resolve({ takeDown: async () => undefined }));
      const path = this.prefix(meaning, name).replace("@", "\0") + mintId();
      server.listen({ path, exclusive: true }, () => resolve({ takeDown }));
    });
  }

  /** Whether a sign hangs, whoever hung it out. */
  async hangs(meaning: Meaning): Promise<boolean> {
    return (await boundNames()).includes(this.prefix(meaning));
  }
}
