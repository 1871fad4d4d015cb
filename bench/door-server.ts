import { fileURLToPath } from "node:url";
import type { Bench } from "./bench.ts";
import { WireProcess } from "./wire-process.ts";

/** Where the programs find the library for WebSockets, which is no part of a bundle. */
const MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));

/** A server of Flint in a process of its own, with all its doors on a port. */
export class DoorServer {
  readonly process: WireProcess;
  /** The URL of the port. */
  readonly place: string;

  private constructor(process: WireProcess, place: string) {
    this.process = process;
    this.place = place;
  }

  /** Starts one whose agents stream text, or ask. */
  static async start(bench: Bench, agent: "burst" | "asking"): Promise<DoorServer> {
    const nodeArguments = ["--expose-gc", bench.program("door-server"), await bench.newFolder(), agent];
    const process = new WireProcess(nodeArguments, { environment: { NODE_PATH: MODULES } });
    const { result } = await process.exchange("place", {});
    return new DoorServer(process, String(result));
  }

  /** The memory that it cannot give back, in MB. */
  async held(): Promise<number> {
    return Number((await this.process.exchange("held", {})).result);
  }

  end(): Promise<void> {
    return this.process.end();
  }
}
