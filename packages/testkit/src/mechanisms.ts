import type { MechanismName } from "@flint/host/sandbox";
import { describe } from "vitest";
import { needs, type Part, type TestRegistrar } from "./needs.ts";

/** What a machine has to have for each way of confinement. */
export const MECHANISM_PARTS = {
  bubblewrap: "bwrap",
  namespaces: "namespaces",
} as const satisfies Readonly<Record<MechanismName, Part>>;

/**
 * A suite that runs with each way of confinement, because all of them make the same promises. `%s` in its title stands
 * for the way; its tests are skipped where the machine lacks what the way needs.
 */
export function describeEachMechanism(
  title: string,
  suite: (mechanism: MechanismName, test: TestRegistrar) => void,
): void {
  const names = Object.keys(MECHANISM_PARTS) as MechanismName[]; // The keys are exactly the names, see above.
  describe.each(names)(title, (name) => suite(name, needs(MECHANISM_PARTS[name])));
}
