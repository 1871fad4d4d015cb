import { FlintError } from "@flint/protocol";
import { REASONING_EFFORT } from "./threads.ts";

interface Wanted {
  readonly config?: Readonly<Record<string, string>> | undefined;
}

/**
 * Calls the core with what a client wants. Clients keep the effort that was chosen last and send it with every model; one
 * that this model does not have is left out, and is no reason to refuse the rest.
 */
export async function withKnownEffort<W extends Wanted>(
  wanted: W,
  call: (given: W) => Promise<unknown>,
): Promise<void> {
  try {
    await call(wanted);
  } catch (error) {
    // Expected: `invalidParams` that names the selector.
    const isAboutEffort = error instanceof FlintError && EFFORT_FIELDS.has(error.data.field);
    if (!isAboutEffort || wanted.config?.[REASONING_EFFORT] === undefined) throw error;
    const { [REASONING_EFFORT]: _effort, ...values } = wanted.config;
    await call({ ...wanted, config: values });
  }
}

const EFFORT_FIELDS: ReadonlySet<unknown> = new Set([REASONING_EFFORT, "config"]);
