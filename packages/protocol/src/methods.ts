import type * as z from "zod/mini";
import { IMPORT_METHODS } from "./methods/import.ts";
import { SERVER_METHODS, WORKSPACE_METHODS } from "./methods/server.ts";
import { TASK_EVENT_METHODS, TASK_METHODS } from "./methods/task.ts";
import { BACKGROUND_METHODS, GOAL_METHODS, THREAD_METHODS } from "./methods/thread.ts";
import { TURN_METHODS } from "./methods/turn.ts";

export type { Scope } from "./methods/method.ts";
export type { TaskMethod } from "./methods/task.ts";
export { ReviewTarget } from "./methods/turn.ts";

/** Every method that a client can call: what it does, the queue it runs in, its params and its result. */
export const METHODS = {
  ...SERVER_METHODS,
  ...WORKSPACE_METHODS,
  ...THREAD_METHODS,
  ...IMPORT_METHODS,
  ...TURN_METHODS,
  ...BACKGROUND_METHODS,
  ...GOAL_METHODS,
  ...TASK_METHODS,
  ...TASK_EVENT_METHODS,
} as const;

/** The name of a method. */
export type Method = keyof typeof METHODS;
/** The methods that run in the queue of their thread. */
export type ThreadMethod = {
  [Name in Method]: (typeof METHODS)[Name]["scope"] extends "thread" ? Name : never;
}[Method];
/** The params of a method, after validation. */
export type Params<Name extends Method> = z.output<(typeof METHODS)[Name]["params"]>;
/** The params of a method, as a caller may write them. */
export type ParamsInput<Name extends Method> = z.input<(typeof METHODS)[Name]["params"]>;
/** The result of a method. */
export type Result<Name extends Method> = z.output<(typeof METHODS)[Name]["result"]>;

/** Reports whether a name from a wire is a method. */
export function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name);
}
