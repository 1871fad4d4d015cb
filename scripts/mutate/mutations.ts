import { AGENT_FAULTS } from "./list/agents.ts";
import { APPROVAL_FAULTS } from "./list/approvals.ts";
import { DRIVER_FAULTS } from "./list/drivers.ts";
import { FRONT_END_FAULTS } from "./list/front-ends.ts";
import { LIMIT_FAULTS } from "./list/limits.ts";
import { PERMISSION_FAULTS } from "./list/permissions.ts";
import { PUBLISHED_FAULTS } from "./list/published.ts";
import { SESSION_FAULTS } from "./list/session.ts";
import { STORE_FAULTS } from "./list/store.ts";
import { TASK_FAULTS } from "./list/tasks.ts";
import type { Mutation } from "./mutation.ts";

/** Every fault that the tests have to notice, one for each promise. */
export const MUTATIONS: readonly Mutation[] = [
  ...APPROVAL_FAULTS,
  ...PERMISSION_FAULTS,
  ...LIMIT_FAULTS,
  ...FRONT_END_FAULTS,
  ...DRIVER_FAULTS,
  ...AGENT_FAULTS,
  ...STORE_FAULTS,
  ...TASK_FAULTS,
  ...PUBLISHED_FAULTS,
  ...SESSION_FAULTS,
];
