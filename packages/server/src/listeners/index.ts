export { isLoopback, type ListenAddress, parseAddress } from "./address.ts";
export { type LimitedToken, LimitedTokens } from "./limited-tokens.ts";
export { connectRemote } from "./remote.ts";
export { readToken, TokenFile } from "./token.ts";
export { webSocketLibrary } from "./web-socket-transport.ts";
