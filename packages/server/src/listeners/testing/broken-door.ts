import { Door } from "@flint/frontends";
import { DOORS, type DoorName } from "../../doors.ts";

/** Doors that cannot be loaded until they are mended, as in a damaged installation. */
export class BrokenDoor {
  #isMended = false;

  readonly load = async (name: DoorName): Promise<Door> => {
    if (!this.#isMended) throw new Error("half of it is missing");
    return new Door(await DOORS[name]());
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
