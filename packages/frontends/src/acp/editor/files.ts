import type { ClientFiles } from "@flint/core/ports";
import { RemoteError } from "@flint/rpc";
import type { EditorRequests } from "./requests.ts";
import { ReadTextFileResponse } from "./responses.ts";

/** The files of an editor, with changes that are not saved yet. */
export class EditorFiles implements ClientFiles {
  readonly #requests: EditorRequests;

  constructor(requests: EditorRequests) {
    this.#requests = requests;
  }

  async read(path: string, signal: AbortSignal): Promise<string | undefined> {
    // Expected: an editor that does not have the file or keeps to its own folders. What is on the disk counts then.
    try {
      return ReadTextFileResponse.parse(await this.#requests.answer("fs/read_text_file", { path }, signal))
        .content;
    } catch (thrown) {
      if (thrown instanceof RemoteError) return undefined;
      throw thrown;
    }
  }

  async write(path: string, text: string, signal: AbortSignal): Promise<void> {
    await this.#requests.answer("fs/write_text_file", { path, content: text }, signal);
  }
}
