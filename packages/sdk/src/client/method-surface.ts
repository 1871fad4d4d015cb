import { isMethod, METHODS, type Method, type ParamsInput, type Result } from "@flint/protocol";
import type { CallOptions } from "./app-server-client.ts";

/** The arguments of a method: params may be left out where none is required. */
export type MethodArguments<Name extends Method> =
  Partial<ParamsInput<Name>> extends ParamsInput<Name>
    ? [params?: ParamsInput<Name>, options?: CallOptions]
    : [params: ParamsInput<Name>, options?: CallOptions];

/** Every method of the protocol as a function under its own name. */
export type MethodSurface = {
  readonly [Name in Method]: (...given: MethodArguments<Name>) => Promise<Result<Name>>;
};

/** How the functions reach the server. */
export type Call = <Name extends Method>(
  method: Name,
  params: ParamsInput<Name>,
  options?: CallOptions,
) => Promise<Result<Name>>;

/** Makes the functions from the table of methods, so that there is one for each row and none besides. */
export function methodSurface(call: Call): MethodSurface {
  const entries = Object.keys(METHODS)
    .filter(isMethod)
    .map((name) => [name, caller(call, name)]);
  // One entry for each row of the table, with the types of that row.
  return Object.fromEntries(entries) as MethodSurface;
}

function caller<Name extends Method>(call: Call, name: Name) {
  // Only a method whose params are all optional can be called without any.
  const none = {} as ParamsInput<Name>;
  return (params: ParamsInput<Name> = none, options?: CallOptions) => call(name, params, options);
}
