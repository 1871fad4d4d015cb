import { createRequire } from "node:module";

/** The library for WebSockets, loaded when the first one is wanted. It is CommonJS, which cannot be part of a bundle. */
export function webSocketLibrary(): typeof import("ws") {
  const load: (name: "ws") => typeof import("ws") = createRequire(import.meta.url);
  return load("ws");
}
