import type { Driver } from "@flint/core/ports";
import { NativeDriver } from "./native/driver.ts";
import type { NativeOptions } from "./native/options.ts";

export type { Endpoint, ModelAccess, NamedEndpoint, NativeOptions, WebAccess } from "./native/options.ts";
export { DEFAULT_NATIVE_OPTIONS } from "./native/options.ts";

/** Every agent that comes with Flint. Makes no process and no connection. */
export function builtInDrivers(options: Partial<NativeOptions> = {}): readonly Driver[] {
  return [new NativeDriver(options)];
}
