import { rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Lock } from "@flint/host/store";
import type { RunningServer } from "@flint/protocol";
import { serverFile } from "../config/environment.ts";
import type { Guests } from "../listeners/guests.ts";
import { UnixListener } from "../listeners/unix-listener.ts";
import { replaceWholeSync } from "../replace-file.ts";
import { VERSION } from "../version.ts";
import { meetingPath } from "./rendezvous.ts";
import { settingsMark } from "./running-server.ts";

/** Which server makes itself known, and where. */
export interface PresenceOptions {
  /** The state folder. */
  readonly root: string;
  readonly cwd: string;
  /** Where else it takes clients. */
  readonly listeners: readonly string[];
  readonly guests: Guests;
  /** That of the state folder. */
  readonly lock: Lock;
}

/** The one server of a state folder: others find it there, and meet at its socket. The kernel sees to it that it is one. */
export class Presence {
  readonly #lock: Lock;
  readonly #listener: UnixListener;
  readonly #file: string;

  private constructor(lock: Lock, listener: UnixListener, file: string) {
    this.#lock = lock;
    this.#listener = listener;
    this.#file = file;
  }

  /** Makes a server known that has the lock of its state folder, which it gives back when this fails. */
  static async announce(options: PresenceOptions): Promise<Presence> {
    const { root, cwd, listeners, guests, lock } = options;
    try {
      const path = meetingPath(root);
      const listener = await UnixListener.start({ path, door: "chosen", guests });
      const file = serverFile(root);
      const running: RunningServer = {
        ...{ pid: process.pid, version: VERSION, socket: path, listeners: [...listeners] },
        ...{ cwd: resolve(cwd), settings: settingsMark() },
      };
      try {
        replaceWholeSync(file, `${JSON.stringify(running)}\n`);
      } catch (error) {
        // Whoever takes the lock next must find nobody at the socket.
        await listener.close();
        throw error;
      }
      return new Presence(lock, listener, file);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Takes no newcomers any more and leaves nothing behind; those who came stay. */
  async close(): Promise<void> {
    rmSync(this.#file, { force: true });
    await this.#listener.close();
    await this.#lock.release();
  }
}
