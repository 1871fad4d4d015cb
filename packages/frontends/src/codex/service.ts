import type { Desk, DeskClient, DoorService } from "../desk.ts";
import { CodexDesk } from "./codex-desk.ts";
import { CodexShared } from "./codex-shared.ts";
import type { CodexHost } from "./host/host.ts";

/** The Codex door in service. */
export class CodexService implements DoorService {
  readonly #shared: CodexShared;

  constructor(host: CodexHost) {
    this.#shared = new CodexShared(host);
  }

  open(client: DeskClient): Desk {
    return new CodexDesk(this.#shared, client);
  }
}
