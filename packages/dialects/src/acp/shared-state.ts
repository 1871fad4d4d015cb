import { Lines } from "./lines.ts";

/** How the door differs from the usual one. */
export interface AcpOptions {
  /** Whether the first new session of a client in a folder goes on with the last one there. */
  readonly autoResume?: boolean;
}

/** What all clients of the door share. */
export class SharedState {
  readonly lines = new Lines();
  /** Changed by any client, for all of them. */
  autoResume: boolean;

  constructor({ autoResume = false }: AcpOptions) {
    this.autoResume = autoResume;
  }
}
