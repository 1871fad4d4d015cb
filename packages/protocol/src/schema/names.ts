import * as z from "zod/mini";
import { HARNESS_ITEMS } from "../harness.ts";
import * as protocol from "../index.ts";
import { ITEMS } from "../items.ts";

/** What is known about a named type beside its shape. */
export interface TypeName {
  readonly id: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

/** The names of types, apart from the types themselves: nobody who only speaks the protocol pays for them. */
export type TypeNames = z.core.$ZodRegistry<TypeName>;

/** A name for every exported schema, every item type and the data of every harness item type. */
export function typeNames(): TypeNames {
  const names = z.registry<TypeName>();
  for (const [id, exported] of Object.entries(protocol)) {
    if (exported instanceof z.ZodMiniType) names.add(exported, { id });
  }
  for (const [type, { schema, doc }] of Object.entries(ITEMS)) {
    names.add(schema, { id: itemTypeName(type), description: doc });
  }
  for (const [type, { data, doc }] of Object.entries(HARNESS_ITEMS)) {
    names.add(data, { id: harnessDataName(type), description: doc });
  }
  return names;
}

/** The name of an item type: `agentMessage` is an `AgentMessageItem`. */
export function itemTypeName(type: string): string {
  return `${capitalized(type)}Item`;
}

/** The name of the data of a harness item type: that of a `tool_log` is `HarnessToolLogData`. */
export function harnessDataName(type: string): string {
  return `Harness${type.split("_").map(capitalized).join("")}Data`;
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
