import type { Rule } from "@flint/protocol";

/** What was always allowed, by project and agent. Shared by all servers with the same state folder. */
export interface Rules {
  /** All rules there are now, oldest first. */
  list(): readonly Rule[];
  /** Adds a rule, unless another rule of the same project and agent covers it already. */
  add(rule: Rule): void;
  /** Removes a rule. False if there is none with this id. */
  remove(id: string): boolean;
}
