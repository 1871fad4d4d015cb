import type { Rule } from "@flint/protocol";

/** What was allowed for always, by project and agent. Holds for all servers that share the same place. */
export interface Rules {
  /** All rules there are now, oldest first. */
  list(): readonly Rule[];
  /** Keeps a rule; what another rule of the same project and agent covers already is not kept twice. */
  add(rule: Rule): void;
  /** Takes a rule back. False if there is none with this id. */
  remove(id: string): boolean;
}
