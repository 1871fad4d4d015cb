import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/** A worker as lists show it. */
export const WorkerRow = looseObject(() => ({
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  /** The version of Flint that it runs. */
  version: z.string(),
  pools: z.array(z.string()),
  labels: z.array(z.string()),
  /** How many tasks it runs at most, and how many it runs now. */
  concurrency: z.int(),
  load: z.int(),
  /** Whether it takes no more tasks and is about to exit. */
  draining: z.boolean(),
}));
export type WorkerRow = z.output<typeof WorkerRow>;
