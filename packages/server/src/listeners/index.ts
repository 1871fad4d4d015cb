export { isLoopback, type ListenAddress, readAddress } from "./address.ts";
export { unused } from "./idle-end.ts";
export { Listening, type ListenPlan, type OpenPlace } from "./listening.ts";
export { openRemote } from "./remote.ts";
export { readToken, TokenFile } from "./token.ts";
