import { rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Lock } from "@flint/host/lock";
import { writePrivateFileSync } from "@flint/host/private-file";
import type { RunningServer } from "@flint/protocol";
import { serverFile } from "../config/environment.ts";
import type { Clients } from "../listeners/clients.ts";
import { UnixListener } from "../listeners/unix-listener.ts";
import { VERSION } from "../version.ts";
import { settingsHash } from "./difference.ts";
import { rendezvousPath } from "./rendezvous.ts";

/** The server to announce. */
export interface PresenceOptions {
  /** The state folder. */
  readonly root: string;
  readonly cwd: string;
  /** The addresses of its listeners. */
  readonly listeners: readonly string[];
  readonly clients: Clients;
  /** The lock of the state folder. */
  readonly lock: Lock;
}

/** The rendezvous socket of the one server of a state folder, and the file that describes the server. */
export class Presence {
  readonly #lock: Lock;
  readonly #listener: UnixListener;
  readonly #file: string;

  private constructor(lock: Lock, listener: UnixListener, file: string) {
    this.#lock = lock;
    this.#listener = listener;
    this.#file = file;
  }

  /** Announces a server that has the lock of its state folder. Releases the lock if that fails. */
  static async announce(options: PresenceOptions): Promise<Presence> {
    const { root, cwd, listeners, clients, lock } = options;
    try {
      const path = rendezvousPath(root);
      const listener = await UnixListener.start({ path, protocol: "chosen", clients });
      const file = serverFile(root);
      const running: RunningServer = {
        ...{ pid: process.pid, version: VERSION, socket: path, listeners: [...listeners] },
        ...{ cwd: resolve(cwd), settings: settingsHash(), startedAt: Date.now() },
      };
      try {
        writePrivateFileSync(file, `${JSON.stringify(running)}\n`);
      } catch (error) {
        // The next process that takes the lock must not find this one at the socket.
        await listener.close();
        throw error;
      }
      return new Presence(lock, listener, file);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Stops accepting clients and removes file, socket and lock; connected clients stay. */
  async close(): Promise<void> {
    rmSync(this.#file, { force: true });
    await this.#listener.close();
    await this.#lock.release();
  }
}
