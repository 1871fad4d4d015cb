import type { Driver } from "@flint/core/ports";
import { NativeDriver } from "./native/driver.ts";

/** Every agent that comes with Flint. Makes no process and no connection. */
export function builtInDrivers(): readonly Driver[] {
  return [new NativeDriver()];
}
