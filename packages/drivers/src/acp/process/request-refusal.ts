import { STANDARD_CODES } from "@flint/protocol";

/** The codes that Flint answers agents with: those of JSON-RPC, and ACP's own. */
export const ACP_CODES = {
  ...STANDARD_CODES,
  cancelled: -32800,
  authRequired: -32000,
  notFound: -32002,
} as const;

/** Why a request of an agent is not fulfilled; the message is for the agent and whoever reads its log. */
export class RequestRefusal extends Error {
  override readonly name = "RequestRefusal";
  readonly code: number;

  constructor(kind: keyof typeof ACP_CODES, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = ACP_CODES[kind];
  }
}
