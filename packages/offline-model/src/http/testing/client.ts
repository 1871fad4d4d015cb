/** A JSON object. */
export type Fields = Record<string, unknown>;

/** A whole response. */
export interface FullResponse {
  readonly status: number;
  readonly body: Fields;
  readonly response: Response;
}

/** Requests a whole response. */
export async function post(url: string, path: string, body: unknown): Promise<FullResponse> {
  const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  const parsed: unknown = await response.json();
  return { status: response.status, body: { ...Object(parsed) }, response };
}

/** A streamed response: the names and data of its events, and the raw text. */
export interface StreamedResponse {
  readonly type: string | null;
  readonly names: readonly string[];
  readonly data: readonly Fields[];
  readonly raw: string;
}

/** Requests a stream and reads it to its end. */
export async function stream(url: string, path: string, body: object): Promise<StreamedResponse> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    body: JSON.stringify({ ...body, stream: true }),
  });
  const raw = await response.text();
  const events = raw.trimEnd().split("\n\n");
  const names = events.flatMap((event) => /^event: (.*)$/m.exec(event)?.[1] ?? []);
  const data = events.flatMap((event): Fields[] => {
    const text = /^data: (.*)$/m.exec(event)?.[1] ?? "";
    return text === "[DONE]" ? [] : [JSON.parse(text)];
  });
  return { type: response.headers.get("content-type"), names, data, raw };
}

/** Removes repeated neighbours. */
export function order(names: readonly string[]): string[] {
  return names.filter((name, index) => name !== names[index - 1]);
}
