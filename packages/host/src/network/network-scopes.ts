import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, SandboxScope } from "@flint/core/ports";
import type { NamespaceTools } from "./namespace.ts";
import { type NodePrograms, writeNodePrograms } from "./node-programs.ts";
import { socketFilter } from "./seccomp.ts";
import { type CommandNetwork, ThreadNetwork } from "./thread-network.ts";

/** What the networks of scopes are made with. */
export interface NetworkScopesOptions {
  /** Where the programs that commands load are written; commands can read it and not write it. */
  readonly folder: string;
  readonly clock: Clock;
}

/** The networks of scopes: each is made when a command is first started in it. */
export class NetworkScopes {
  readonly #options: NetworkScopesOptions;
  readonly #networks = new Map<string, ThreadNetwork>();
  #programs: Promise<NodePrograms> | undefined;
  #filter: Promise<string | undefined> | undefined;
  #count = 0;

  constructor(options: NetworkScopesOptions) {
    this.#options = options;
  }

  /** The network for a command in this scope; `hosts` are host rules that it alone may connect to without a question. */
  async open(
    tools: NamespaceTools,
    scope: SandboxScope,
    hosts: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<CommandNetwork> {
    this.#programs ??= writeNodePrograms(this.#options.folder);
    const programs = await this.#programs;
    const network = this.#networks.get(scope.id) ?? this.#create(tools, scope, programs);
    this.#networks.set(scope.id, network);
    this.#count += 1;
    return network.openCommand({ id: `${this.#count}`, hosts, environment });
  }

  /** A file with the seccomp filter for confined commands; undefined on processors that have none. */
  filter(): Promise<string | undefined> {
    this.#filter ??= this.#writeFilter();
    return this.#filter;
  }

  /** Ends the network of a scope. */
  async close(id: string): Promise<void> {
    const network = this.#networks.get(id);
    this.#networks.delete(id);
    await network?.dispose();
  }

  #create(tools: NamespaceTools, scope: SandboxScope, programs: NodePrograms): ThreadNetwork {
    const ask = async ({ host, port }: { readonly host: string; readonly port: number }) => {
      const allowed = (await scope.decide?.({ host, port })) === true;
      return { decision: allowed ? "allow" : "deny", scope: "connection" } as const;
    };
    return new ThreadNetwork({ tools, programs, ask, clock: this.#options.clock });
  }

  async #writeFilter(): Promise<string | undefined> {
    const filter = socketFilter();
    if (filter === undefined) return undefined;
    this.#programs ??= writeNodePrograms(this.#options.folder);
    await this.#programs;
    const file = join(this.#options.folder, "sockets.bpf");
    await writeFile(file, filter, { mode: 0o600 });
    // It may have been made looser since.
    await chmod(file, 0o600);
    return file;
  }
}
