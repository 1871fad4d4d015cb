export { SessionApp, type SessionOptions, type SessionStart } from "./app/app.ts";
export { Connection, type SessionServer } from "./app/connection.ts";
export type { NewThreadSettings, PermissionChoice } from "./session/context.ts";
export type { ConfigKey, Machine, MachineAgent } from "./session/machine.ts";
export type { TerminalDevice } from "./terminal/device.ts";
export { NodeDevice } from "./terminal/node-device.ts";
