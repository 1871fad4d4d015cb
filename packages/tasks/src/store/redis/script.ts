import { createHash } from "node:crypto";
import type { Redis } from "ioredis";

/** A script that runs as one step in Redis; sent once, and by its hash after that. */
export class Script {
  readonly #source: string;
  readonly #hash: string;

  constructor(source: string) {
    this.#source = source;
    this.#hash = createHash("sha1").update(source).digest("hex");
  }

  async run(redis: Redis, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    const rest = [...keys, ...values];
    // Expected: a server that was started since has not seen the script.
    try {
      return await redis.evalsha(this.#hash, keys.length, ...rest);
    } catch (thrown) {
      if (!(thrown instanceof Error) || !thrown.message.startsWith("NOSCRIPT")) throw thrown;
      return redis.eval(this.#source, keys.length, ...rest);
    }
  }
}
