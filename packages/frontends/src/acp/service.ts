import type { Desk, DeskClient, DoorService } from "../desk.ts";
import { AcpDesk } from "./client-handler.ts";
import { type AcpOptions, SharedState } from "./shared-state.ts";

/** The door in service: every client gets a desk, and all desks share what is the same for all. */
export class AcpService implements DoorService {
  readonly #shared: SharedState;

  constructor(options: AcpOptions) {
    this.#shared = new SharedState(options);
  }

  open(client: DeskClient): Desk {
    return new AcpDesk(client, this.#shared);
  }
}
