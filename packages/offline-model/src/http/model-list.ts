/** The names under which the offline model is listed. Any other name is answered as well. */
const NAMES = ["flint-offline"];

/** The time that every model was "made": there is no better one, and it never changes. */
const CREATED = Date.UTC(2025, 0, 1);

/** One model, with the fields of both Anthropic's and OpenAI's lists. */
export function modelEntry(id: string): object {
  return {
    id,
    object: "model",
    created: CREATED / 1000,
    owned_by: "flint",
    type: "model",
    display_name: "Flint offline model",
    created_at: new Date(CREATED).toISOString(),
  };
}

/** The list of models, readable in both shapes. */
export function modelList(): object {
  const data = NAMES.map(modelEntry);
  return { object: "list", data, has_more: false, first_id: NAMES[0], last_id: NAMES.at(-1) };
}

/** The list of models as Ollama gives it. */
export function ollamaTags(): object {
  const modified_at = new Date(CREATED).toISOString();
  const models = NAMES.map((name) => ({ name, model: name, modified_at, size: 0, digest: "", details: {} }));
  return { models };
}
