import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { logFile, stateFolder } from "@flint/server/environment";
import { signalled } from "@flint/server/serve";
import { escapeControls } from "@flint/view";
import { noArguments } from "../../command-line/command.ts";
import { print, printError } from "../../command-line/output.ts";

interface LogsArguments {
  readonly values: { readonly follow?: boolean | undefined };
  readonly positionals: readonly string[];
}

const CHUNK_BYTES = 65_536;
const POLL_MS = 200;

/** `flint server logs`: prints the log of the background server, and with `--follow` what is added to it. */
export async function serverLogs({ values, positionals }: LogsArguments): Promise<number> {
  noArguments("server logs", positionals);
  const path = logFile(stateFolder());
  const file = await openLog(path);
  if (file === undefined) {
    const why =
      "only background servers write one, such as those started by flint, flint tasks or flint connect --start";
    return printError(`There is no log at ${path}: ${why}.`, 1);
  }
  try {
    return await printLog(file, values.follow === true);
  } finally {
    await file.close();
  }
}

async function openLog(path: string): Promise<FileHandle | undefined> {
  // Expected: no background server was ever started.
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return undefined;
  } catch {
    return undefined;
  }
}

async function printLog(file: FileHandle, follow: boolean): Promise<number> {
  const bytes = Buffer.alloc(CHUNK_BYTES);
  const decoder = new TextDecoder();
  const stopped = follow ? signalled().then(() => true) : Promise.resolve(true);
  let position = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, 0, CHUNK_BYTES, position);
    position += bytesRead;
    if (bytesRead > 0) {
      print(escapeControls(decoder.decode(bytes.subarray(0, bytesRead), { stream: true })));
      continue;
    }
    if (!follow || (await Promise.race([stopped, delay(POLL_MS, false)]))) return 0;
    // A log that became too long is cut by the next server.
    if ((await file.stat()).size < position) position = 0;
  }
}
