import { fileURLToPath } from "node:url";
import type { Bench } from "../bench.ts";
import { WireProcess } from "./wire-process.ts";

/** The folder in which the programs find the WebSocket library, which is not bundled. */
const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** A server of Flint in a process of its own, with all its front ends on a port. */
export class FrontendServer {
  readonly process: WireProcess;
  /** The URL of the port. */
  readonly url: string;

  private constructor(process: WireProcess, url: string) {
    this.process = process;
    this.url = url;
  }

  /** Starts a server whose agent streams text, or asks for approvals. */
  static async start(bench: Bench, agent: "burst" | "asking"): Promise<FrontendServer> {
    const nodeArguments = ["--expose-gc", bench.program("frontend-server"), await bench.newFolder(), agent];
    const process = new WireProcess(nodeArguments, { environment: { NODE_PATH: MODULES } });
    const { result } = await process.exchange("url", {});
    return new FrontendServer(process, String(result));
  }

  /** The memory in MB after garbage collection. */
  async held(): Promise<number> {
    return Number((await this.process.exchange("held", {})).result);
  }

  end(): Promise<void> {
    return this.process.end();
  }
}
