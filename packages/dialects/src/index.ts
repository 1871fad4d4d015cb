export { Connection } from "./connection.ts";
export type { CoreCall, Dialect, Inbound, Outbound } from "./dialect.ts";
export { Door } from "./door.ts";
export { flintDialect } from "./flint/dialect.ts";
export { harnessDialect } from "./harness/dialect.ts";
