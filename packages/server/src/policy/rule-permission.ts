import { isAbsolute, join, normalize } from "node:path";
import type { RuleDecision } from "@flint/core/ports";
import { realPathOrSameSync } from "@flint/host/files";
import { type NetworkPermission, networkRuleProblem, type Permission } from "@flint/protocol";

/** The problem with a field of a rule. */
export interface Problem {
  readonly field: string | undefined;
  readonly message: string;
}

type Table = Readonly<Record<string, unknown>>;
type Decision = RuleDecision["decision"] | undefined;

/** The permission of a rule beyond the sandbox, and the problems with its fields. */
export interface ReadPermission {
  readonly permission: Permission | undefined;
  readonly found: readonly Problem[];
}

const GIT_WORDS: Readonly<Record<RuleDecision["decision"], string>> = {
  allow: "auto",
  ask: "ask",
  deny: "off",
};

/** Reads the fields `network`, `write`, `git` and `unconfined` of a rule. `home` is what `~` stands for. */
export function permissionOf(table: Table, decision: Decision, home: string): ReadPermission {
  const reader = new PermissionReader(table, decision, home);
  const permission = {
    ...present("network", reader.network()),
    ...present("write", reader.write()),
    ...present("git", reader.git()),
    ...present("unconfined", reader.unconfined()),
  };
  return {
    permission: Object.keys(permission).length === 0 ? undefined : permission,
    found: reader.found,
  };
}

class PermissionReader {
  readonly found: Problem[] = [];
  readonly #table: Table;
  readonly #decision: Decision;
  readonly #home: string;

  constructor(table: Table, decision: Decision, home: string) {
    this.#table = table;
    this.#decision = decision;
    this.#home = home;
  }

  network(): NetworkPermission | undefined {
    const { network } = this.#table;
    if (network === undefined) return undefined;
    if (this.#has("path")) return this.#problem("network", "network applies to commands, not to path.");
    if (network === "all") return this.#everyHost();
    if (!isStrings(network) || network.length === 0)
      return this.#problem("network", `network must be "all" or a list of hosts, not ${shown(network)}.`);
    const problem = network.map(networkRuleProblem).find((each) => each !== undefined);
    if (problem !== undefined) return this.#problem("network", `network: ${problem}.`);
    const scope = ["prefix", "command", "tool", "agent"].find((field) => this.#has(field));
    if (this.#decision === "deny" && scope !== undefined)
      return this.#problem(scope, `a denied host applies to every command; leave out ${scope}.`);
    if (this.#decision === "deny" && network.some((rule) => rule.includes("=")))
      return this.#problem("network", "a denied host is denied at every address; leave out the addresses.");
    return { hosts: network };
  }

  #everyHost(): NetworkPermission | undefined {
    if (this.#decision === "deny")
      return this.#problem(
        "network",
        "a deny rule needs a list of hosts; --network none turns the network off.",
      );
    if (!this.#has("prefix") && !this.#has("command"))
      return this.#problem(
        "network",
        'network = "all" needs a prefix or a command; --network all opens every host.',
      );
    return "all";
  }

  write(): string[] | undefined {
    const { write } = this.#table;
    if (write === undefined) return undefined;
    if (!isStrings(write) || write.length === 0)
      return this.#problem("write", `write must be a list of folders, not ${shown(write)}.`);
    const paths = write.map((path) => (path.startsWith("~/") ? join(this.#home, path.slice(2)) : path));
    const wrong = paths.findIndex((path) => !isAbsolute(path) || normalize(path) !== path || path === "/");
    if (wrong === -1) return paths.map(realPathOrSameSync);
    return this.#problem(
      "write",
      `write must be absolute folders such as "~/.cache/pip", without "..", not ${shown(write[wrong])}.`,
    );
  }

  git(): true | undefined {
    const { git } = this.#table;
    if (git === undefined) return undefined;
    const requested = GIT_WORDS[this.#decision ?? "allow"];
    if (git === requested) return true;
    return this.#problem(
      "git",
      `git must be ${shown(requested)} in a rule with decision = ${shown(this.#decision ?? "allow")}, not ${shown(git)}.`,
    );
  }

  unconfined(): true | undefined {
    const { unconfined } = this.#table;
    if (unconfined === undefined) return undefined;
    if (unconfined !== true)
      return this.#problem(
        "unconfined",
        `unconfined must be true, or be left out, not ${shown(unconfined)}.`,
      );
    const other = ["network", "write", "git"].find((field) => this.#has(field));
    if (other !== undefined)
      return this.#problem("unconfined", `unconfined and ${other} cannot be in one rule; use two rules.`);
    if (this.#decision === "allow" && !this.#has("command"))
      return this.#problem("unconfined", "unconfined = true needs command = with the exact command line.");
    return true;
  }

  #has(field: string): boolean {
    return Object.hasOwn(this.#table, field);
  }

  #problem(field: string, message: string): undefined {
    this.found.push({ field, message });
  }
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function shown(value: unknown): string {
  return JSON.stringify(value);
}

function present<Name extends string, Value>(name: Name, value: Value | undefined) {
  // TypeScript widens a computed key to any string.
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}
