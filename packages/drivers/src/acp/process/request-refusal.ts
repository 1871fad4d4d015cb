/** Codes of the protocol that Flint answers with. */
export const ACP_CODES = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
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
