export { SessionApp, type SessionOptions, type SessionStart } from "./app/app.ts";
export { Connection, type SessionServer } from "./app/connection.ts";
export type { Machine, NewThreadSettings, PermissionChoice } from "./session/context.ts";
export type { TerminalDevice } from "./terminal/device.ts";
export { NodeDevice } from "./terminal/node-device.ts";
