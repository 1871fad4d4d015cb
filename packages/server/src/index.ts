export { composeEngine } from "./compose.ts";
export { type Embedded, embed } from "./embed.ts";
export { serveStdio } from "./serve/serve-stdio.ts";
export type { Durability, ServerOptions } from "./server-options.ts";
