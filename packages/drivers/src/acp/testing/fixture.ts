import { fileURLToPath } from "node:url";
import type { Clock } from "@flint/core/ports";
import { AcpDriver } from "../driver.ts";
import { type AcpProfile, GENERIC } from "../profiles/profile.ts";

/** The program of the fixture agent. */
export const AGENT = fileURLToPath(new URL("../fixtures/agent.mjs", import.meta.url));

/** The fixture agent as a driver; the flags change how it starts. */
export function fixtureDriver(
  flags: readonly string[] = [],
  profile: Partial<AcpProfile> = {},
  environment: Readonly<Record<string, string>> = {},
): AcpDriver {
  return driverOf([process.execPath, AGENT, ...flags], { profile, environment });
}

/** How a driver of a test differs from one of any agent. */
export interface DriverWishes {
  readonly profile?: Partial<AcpProfile>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

/** A driver of whatever program is given. */
export function driverOf(command: readonly string[], wishes: DriverWishes = {}): AcpDriver {
  const { profile, environment = {}, clock } = wishes;
  const options = {
    profile: { ...GENERIC, ...profile, id: "fixture", displayName: "Fixture" },
    program: async () => ({ command, environment }),
    version: "0.0.0",
  };
  return new AcpDriver(options, clock);
}
