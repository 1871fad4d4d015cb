export { composeEngine, type Durability, type ServerOptions } from "./compose.ts";
export { type Embedded, embed } from "./embed.ts";
export { serveStdio } from "./serve-stdio.ts";
