/** A line that the fake engine writes. */
export type EngineFrame =
  | { readonly method: "item/agentMessage/delta"; readonly params: { itemId: string; delta: string } }
  | { readonly method: "item/started" | "item/completed"; readonly params: { item: EngineItem } }
  | { readonly method: "turn/completed"; readonly params: object };

/** The only kind of item the fake engine has. */
export interface EngineItem {
  readonly type: "agentMessage";
  readonly id: string;
  readonly text: string;
}
