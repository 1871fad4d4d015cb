import type { NetworkPermission, SandboxPolicyInput, TaskState } from "@flint/protocol";

const FIRST_PORT = 20_000;
const PORTS = 10;
const RANGES = 4_000;

/** The first of ten ports that an attempt may use without meeting those of the other attempts on this machine. */
export function portBase({ number, attempt }: Pick<TaskState, "number" | "attempt">): number {
  return FIRST_PORT + ((number * 10 + attempt - 1) % RANGES) * PORTS;
}

/** What the set-up command and the checks of a task have in their environment. */
export function variablesOf(state: Pick<TaskState, "id" | "number" | "attempt">): string[] {
  return [`FLINT_TASK_ID=${state.id}`, `FLINT_PORT_BASE=${portBase(state)}`];
}

/** The sandbox of checks: the network is open only if the task allows all of it, because no one is asked about single hosts. */
export function checkPolicy(network: NetworkPermission | undefined): SandboxPolicyInput {
  return { type: "workspaceWrite", networkAccess: network === "all" };
}
