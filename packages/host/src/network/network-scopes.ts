import { join } from "node:path";
import type { Clock, SandboxScope } from "@flint/core/ports";
import type { Endpoint } from "@flint/protocol";
import { replacePrivateFile } from "../files/private-file.ts";
import type { ConnectionEvent, RefusedHost } from "./connection-log.ts";
import type { ConnectionRequest } from "./host-gate.ts";
import type { NamespaceTools } from "./namespace.ts";
import { type NodePrograms, writeNodePrograms } from "./node-programs.ts";
import { socketFilter } from "./seccomp.ts";
import { type CommandNetwork, ThreadNetwork } from "./thread-network.ts";

/** Dependencies of the networks of scopes. */
export interface NetworkScopesOptions {
  /** The folder for programs that commands load; commands can read it and not write it. */
  readonly folder: string;
  readonly clock: Clock;
  /** Called for each connection of a scope that is held, allowed, refused or fails. */
  onEvent?(scopeId: string, event: ConnectionEvent): void;
}

/** A command that is about to be started in a scope. */
export interface ScopedCommand {
  readonly scope: SandboxScope;
  /** Host rules that it alone may connect to without a question. */
  readonly hosts: readonly string[];
  readonly itemId?: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/** The network of one command. */
export interface ScopedNetwork extends CommandNetwork {
  /** Returns the hosts that were refused to it so far. */
  refused(): RefusedHost[];
}

/** The networks of scopes: each is made when a command is first started in it. */
export class NetworkScopes {
  readonly #options: NetworkScopesOptions;
  readonly #networks = new Map<string, ThreadNetwork>();
  #programs: Promise<NodePrograms> | undefined;
  #filter: Promise<string | undefined> | undefined;
  /** The items of running commands, by the ids that their networks know them by. */
  readonly #items = new Map<string, string>();
  #count = 0;

  constructor(options: NetworkScopesOptions) {
    this.#options = options;
  }

  /** The network for a command in its scope. Rejects with `sandboxUnavailable` if none is available. */
  async open(tools: NamespaceTools, command: ScopedCommand): Promise<ScopedNetwork> {
    const { scope, hosts, itemId, environment } = command;
    const { clock, folder } = this.#options;
    this.#programs ??= writeNodePrograms(folder);
    const programs = await this.#programs;
    const network = this.#networks.get(scope.id) ?? this.#create(tools, scope, programs);
    this.#networks.set(scope.id, network);
    this.#count += 1;
    const id = `${this.#count}`;
    if (itemId !== undefined) this.#items.set(id, itemId);
    const startedAt = clock.now();
    const forget = () => this.#items.delete(id);
    const opened = await network.openCommand({ id, hosts, environment }).catch((thrown: unknown) => {
      forget();
      throw thrown;
    });
    return {
      ...opened,
      refused: () => network.refusedTo({ command: id, startedAt, endedAt: clock.now() }),
      release: () => {
        forget();
        opened.release();
      },
    };
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
    const itemOf = (command: string | undefined) => {
      const itemId = command === undefined ? undefined : this.#items.get(command);
      return itemId === undefined ? {} : { itemId };
    };
    const ask = async ({ host, port, command }: ConnectionRequest) => {
      const decided = await scope.decide?.({ host, port, ...itemOf(command) });
      if (decided?.allowed === true) return { decision: "allow", scope: "connection" } as const;
      const reason = decided?.reason ?? "the thread has no network";
      return { decision: "deny", scope: "connection", reason } as const;
    };
    const onEvent = (event: ConnectionEvent) => {
      const { host, port, command, outcome, reason = "" } = event;
      this.#options.onEvent?.(scope.id, event);
      if (outcome !== "refused" && outcome !== "failed") return;
      scope.onFailedConnection?.({
        ...{ host, port, ...itemOf(command), allowed: outcome === "failed", reason },
      });
    };
    const addressesOf = (endpoint: Endpoint) => scope.addressesOf?.(endpoint) ?? [];
    return new ThreadNetwork({ tools, programs, ask, addressesOf, onEvent, clock: this.#options.clock });
  }

  async #writeFilter(): Promise<string | undefined> {
    const filter = socketFilter();
    if (filter === undefined) return undefined;
    this.#programs ??= writeNodePrograms(this.#options.folder);
    await this.#programs;
    const file = join(this.#options.folder, "sockets.bpf");
    // Another sandbox, of this process or another, may be about to load it.
    await replacePrivateFile(file, filter);
    return file;
  }
}
