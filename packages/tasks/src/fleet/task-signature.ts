import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { isRecord, type TaskEvent, type TaskSpec, type TaskState } from "@flint/protocol";
import type { VerifyTask } from "../service/verify-task.ts";
import type { RedisStore, TaskSignature } from "../store/redis/redis-store.ts";

/**
 * The content that a signature covers: the task, the place and the author of its addition, and everything to
 * be done.
 */
export interface SignedTask {
  readonly namespace: string;
  readonly id: string;
  readonly by: string;
  readonly spec: TaskSpec;
}

const PREFIX = "flint-key:";

/** The key with which a server signs the tasks that it adds. */
export class TaskSigner {
  readonly #key: KeyObject;
  /** The other half, for workers: `flint-key:` and base64. */
  readonly publicKey: string;

  constructor(privateKey: KeyObject) {
    this.#key = privateKey;
    const { x } = createPublicKey(privateKey).export({ format: "jwk" });
    this.publicKey = `${PREFIX}${x}`;
  }

  /** A new key, as PEM. */
  static generate(): string {
    return generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  }

  static fromPem(pem: string): TaskSigner {
    return new TaskSigner(createPrivateKey(pem));
  }

  sign(task: SignedTask): TaskSignature {
    return { key: this.publicKey, value: sign(null, digest(task), this.#key).toString("base64url") };
  }
}

/** Reports whether a text is a public key for tasks. */
export function isTaskKey(text: string): boolean {
  return keyOf(text) !== undefined;
}

/** The identity of those who add tasks to a fleet, and the keys that are trusted. */
export interface Trust {
  readonly namespace: string;
  /** The public keys whose tasks count. */
  readonly trusted: ReadonlySet<string>;
}

/** Checks the tasks of a store. */
export function taskVerifier(store: Pick<RedisStore, "added">, trust: Trust): VerifyTask {
  return async (state) => unverifiedReason(state, await store.added(state.id), trust);
}

/** Returns the reason no work may be done for a task that was added in this way; undefined if some may. */
export function unverifiedReason(
  { id, addedBy: by, spec }: TaskState,
  added: TaskEvent | undefined,
  { namespace, trusted }: Trust,
): string | undefined {
  const signature = added?.type === "task/added" ? added.data.signature : undefined;
  return signatureProblem({ namespace, id, by, spec }, signature, trusted);
}

/**
 * Returns the reason no work may be done for a task by a worker that trusts these keys; undefined if it may.
 */
export function signatureProblem(
  task: SignedTask,
  signature: unknown,
  trusted: ReadonlySet<string>,
): string | undefined {
  if (!isRecord(signature) || typeof signature.key !== "string" || typeof signature.value !== "string")
    return "The task is not signed.";
  if (!trusted.has(signature.key))
    return `The task was signed with ${signature.key}, which is not trusted here. Workers trust keys with --trust, servers with tasks.trust.`;
  const key = keyOf(signature.key);
  const isValid =
    key !== undefined && verify(null, digest(task), key, Buffer.from(signature.value, "base64url"));
  return isValid
    ? undefined
    : "The signature of the task does not match: it was changed, or is that of another task.";
}

function keyOf(text: string): KeyObject | undefined {
  // Expected: any text.
  try {
    if (!text.startsWith(PREFIX)) return undefined;
    const x = text.slice(PREFIX.length);
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    return undefined;
  }
}

function digest({ namespace, id, by, spec }: SignedTask): Buffer {
  return createHash("sha256").update(canonical({ namespace, id, by, spec })).digest();
}

/** JSON whose properties are in the order of their names, so that how it was stored does not matter. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, content]) => content !== undefined);
  const sorted = entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${sorted.map(([name, content]) => `${JSON.stringify(name)}:${canonical(content)}`).join(",")}}`;
}
