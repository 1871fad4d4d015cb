export { type BridgeEnd, bridgeLines, bridgeSocket, stdioEnd } from "./bridge.ts";
export { type Joined, type JoinOptions, joinOrClaim } from "./join.ts";
export { connectRunning, startAndConnect } from "./running-server.ts";
export { connectShared, type SharedClient } from "./shared-client.ts";
