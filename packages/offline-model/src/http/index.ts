export { ModelServer, type ModelServerOptions } from "./server.ts";
