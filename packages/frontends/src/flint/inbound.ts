import { type FLINT, METHODS, type Method, type Params } from "@flint/protocol";
import { type CoreCall, type Inbound, identityCall } from "../dialect.ts";

/** Every method is a call of the core as it stands. */
function identity(): Inbound<typeof FLINT> {
  const entries = Object.keys(METHODS).map((name) => {
    const call = (params: unknown): CoreCall => identityCall(name as Method, params as Params<Method>);
    return [name, call] as const;
  });
  // Made from the keys of the table itself, so it is exhaustive by construction.
  return Object.fromEntries(entries) as unknown as Inbound<typeof FLINT>;
}

/** Requests of the Flint door. */
export const inbound: Inbound<typeof FLINT> = identity();
