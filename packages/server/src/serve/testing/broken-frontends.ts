import type { Frontend } from "@flint/frontends";
import { FRONTENDS, type FrontendName } from "../../frontends.ts";

/** Front ends that cannot be loaded until they are mended, as in a damaged installation. */
export class BrokenFrontends {
  #isMended = false;

  readonly load = async (name: FrontendName): Promise<Frontend> => {
    if (!this.#isMended) throw new Error("half of it is missing");
    return FRONTENDS[name]();
  };

  mend(): void {
    this.#isMended = true;
  }
}

/** Keeps what this process says on stderr, instead of printing it, until the test ends. */
export function stderrOf(atEnd: (cleanUp: () => void) => void): () => string {
  let text = "";
  const { write } = process.stderr;
  process.stderr.write = (piece: string | Uint8Array) => {
    text += String(piece);
    return true;
  };
  atEnd(() => {
    process.stderr.write = write;
  });
  return () => text;
}
