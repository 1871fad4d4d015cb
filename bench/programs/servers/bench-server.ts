// A server of Flint over stdio whose agents are made for measurements.
// Arguments: the folder for its threads, its durability, and the program that plays the agent.
import { flintFrontend } from "@flint/frontends/flint";
import { composeEngine, serveStdio } from "@flint/server";
import { burstDriver } from "../agents/burst-driver.ts";
import { relayDriver } from "../agents/relay-driver.ts";

const [root, durability, enginePath = ""] = process.argv.slice(2);
const drivers = [relayDriver(enginePath), burstDriver];
const options = { root, durability: durability === "relaxed" ? "relaxed" : "full", drivers } as const;
await serveStdio(composeEngine(options), flintFrontend());
process.exit();
