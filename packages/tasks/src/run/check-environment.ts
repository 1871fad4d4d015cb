import {
  type NetworkPermission,
  type SandboxPolicyInput,
  type TaskState,
  type ThreadTask,
  taskVariables,
} from "@flint/protocol";

const FIRST_PORT = 20_000;
const PORTS = 10;
const RANGES = 4_000;

/** The first of ten ports that an attempt may use without meeting those of the other attempts on this machine. */
export function portBase({ number, attempt }: Pick<TaskState, "number" | "attempt">): number {
  return FIRST_PORT + ((number * 10 + attempt - 1) % RANGES) * PORTS;
}

/** The task as its threads know it. */
export function threadTask(state: Pick<TaskState, "id" | "number" | "attempt">): ThreadTask {
  return { taskId: state.id, portBase: portBase(state) };
}

/** What the set-up command and the checks of a task have in their environment: the same as its agents. */
export function variablesOf(state: Pick<TaskState, "id" | "number" | "attempt">): string[] {
  return Object.entries(taskVariables(threadTask(state))).map(([name, value]) => `${name}=${value}`);
}

/** The sandbox of checks: the network is open only if the task allows all of it, because no one is asked about single hosts. */
export function checkPolicy(network: NetworkPermission | undefined): SandboxPolicyInput {
  return { type: "workspaceWrite", networkAccess: network === "all" };
}
