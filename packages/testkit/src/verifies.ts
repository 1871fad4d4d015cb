import { type TestFunction, test } from "vitest";

/**
 * Registers a test that proves the named requirements or safety cases, and shows them in its title.
 * Ranges such as "S0-13..16" are allowed.
 */
export function verifies(ids: string | readonly string[], name: string, body: TestFunction): void {
  const cited = typeof ids === "string" ? ids : ids.join(", ");
  test(`${name} [${cited}]`, body);
}
