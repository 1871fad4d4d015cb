import type { RequestRow, Vocabulary } from "@flint/protocol";
import { jsonSchemaOf } from "@flint/protocol/schema";
import type { WireClient, WireMessage } from "@flint/testkit";
import { Dice } from "./dice.ts";
import { NearValues } from "./near-values.ts";
import { SeenNames } from "./seen-names.ts";

/** The beginning of an unintended answer. */
const OWN_FAULT = /^Flint failed/;

/** Params that initialize a client; protocols without it reject it, which does no harm. */
const INITIALIZE = {
  clientInfo: { name: "random", version: "1" },
  capabilities: { experimentalApi: true },
  protocolVersion: 1,
  clientCapabilities: {},
};

/** A client that sends random requests of a vocabulary, valid and nearly valid ones, and answers in the same way. */
export class RandomClient {
  readonly #wire: WireClient;
  readonly #vocabulary: Vocabulary;
  readonly #dice: Dice;
  readonly #values: NearValues;
  readonly #seen: SeenNames;
  readonly #open = new Map<number, string>();
  readonly #faults: string[] = [];
  /** The number of requests that were not rejected. */
  accepted = 0;
  #read = 0;
  #sent = 0;

  constructor(wire: WireClient, vocabulary: Vocabulary, options: { seed: number; folder: string }) {
    this.#wire = wire;
    this.#vocabulary = vocabulary;
    this.#dice = new Dice(options.seed);
    this.#seen = new SeenNames(options.folder);
    this.#values = new NearValues(this.#dice, this.#seen);
  }

  /** Sends this many requests, a few at a time, and gives every answer that no client should get. */
  async play(requests: number): Promise<readonly string[]> {
    this.#send("initialize", INITIALIZE);
    await this.#settle();
    const { requests: rows, notifications } = this.#vocabulary;
    while (this.#sent < requests) {
      for (let left = this.#dice.among([1, 1, 2, 4]); left > 0; left -= 1) {
        const [method, row] = this.#dice.among(this.#dice.chance(0.3) ? begins(rows) : Object.entries(rows));
        this.#send(method, this.#near(row.params));
      }
      const sendable = Object.entries(notifications);
      if (sendable.length > 0 && this.#dice.chance(0.1)) {
        const [method, row] = this.#dice.among(sendable);
        this.#wire.send({
          ...this.#header(),
          method,
          params: this.#near(row.params),
        });
      }
      await this.#settle();
    }
    return this.#faults;
  }

  #send(method: string, params: unknown): void {
    this.#sent += 1;
    this.#open.set(this.#sent, `${method} ${JSON.stringify(params)?.slice(0, 600)}`);
    this.#wire.send({ ...this.#header(), id: this.#sent, method, params });
  }

  /** Half of what is sent is valid. */
  #near(type: RequestRow["params"]): unknown {
    return this.#values.of(jsonSchemaOf(type, "input"), this.#dice.among([0, 0.04]));
  }

  #header(): object {
    return this.#vocabulary.header ? { jsonrpc: "2.0" } : {};
  }

  /** Reads on until every request has its answer. */
  async #settle(): Promise<void> {
    while (this.#open.size > 0) {
      try {
        const message = await this.#wire.waitFor(() => true, { after: this.#read, withinMs: 20_000 });
        this.#read += 1;
        this.#take(message);
      } catch {
        this.#faults.push(...[...this.#open.values()].map((asked) => `no answer to ${asked}`));
        this.#open.clear();
      }
    }
  }

  #take(message: WireMessage): void {
    this.#seen.take(message);
    const { id, method, error } = message;
    if (typeof method === "string") {
      if (id !== undefined) this.#answer(id, method);
      return;
    }
    // What cannot be read is rejected without an id, also where it was not a request.
    if (id === null) return;
    const asked = this.#open.get(Number(id));
    if (asked === undefined) this.#faults.push(`an answer to no request: ${JSON.stringify(message)}`);
    this.#open.delete(Number(id));
    if (error === undefined) this.accepted += 1;
    const { message: text }: { message?: unknown } = Object(error);
    if (OWN_FAULT.test(String(text))) this.#faults.push(`${String(text)} to ${asked}`);
  }

  #answer(id: unknown, method: string): void {
    const row = this.#vocabulary.serverRequests[method];
    if (row === undefined || this.#dice.chance(0.1)) {
      this.#wire.send({ ...this.#header(), id, error: { code: -32_601, message: "not here" } });
      return;
    }
    this.#wire.send({ ...this.#header(), id, result: this.#near(row.result) });
  }
}

/** Returns the requests that create objects for others to name: threads, and work in them. */
function begins(rows: Vocabulary["requests"]): readonly [string, RequestRow][] {
  return Object.entries(rows).filter(([method]) =>
    /^(?:thread|turn|session)[/.](?:start|new|prompt)$/.test(method),
  );
}
