const CODES: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  404: "not_found",
  429: "rate_limit_exceeded",
};

/** The body of a failure as OpenAI writes it. */
export function openAiFailure(status: number, message: string): object {
  const type = status >= 500 ? "server_error" : status === 429 ? "requests" : "invalid_request_error";
  return { error: { message, type, param: null, code: CODES[status] ?? null } };
}
