import { streamTransport } from "./streams.ts";
import type { Transport } from "./transport.ts";

let claimed = false;

/**
 * The transport of a server that was started as a child: stdin in, stdout out. Claims stdout for the wire first:
 * from then on whatever else this process prints there (console.log, a library) goes to stderr. Once per process.
 */
export function stdioTransport(): Transport {
  if (claimed) throw new Error("stdin and stdout already carry a connection; use a socket for a second one");
  claimed = true;
  // Closing leaves stdout open: its end is the end of the process, and late prints still need somewhere to go.
  return streamTransport(process.stdin, process.stdout, { write: claimStdout(), keepOpen: true });
}

/** Sends everything that uses `process.stdout` to stderr and returns the only way left to write to the real one. */
function claimStdout(): (text: string) => boolean {
  const { stdout, stderr } = process;
  const writeToWire = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  // A library that ends stdout would cut the wire.
  stdout.end = () => stdout;
  // Nobody reading the diagnostics is no reason to end the server.
  stderr.on("error", () => {});
  return (text) => writeToWire(text);
}
