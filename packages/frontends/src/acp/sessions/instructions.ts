import * as z from "zod/mini";
import type { AcpParams } from "../requests.ts";

/** The word that the adapters for Claude took first, and that clients such as acpx still send. */
const EarlierWord = z.object({
  systemPrompt: z.union([
    z.string().check(z.minLength(1)),
    z.object({ append: z.string().check(z.minLength(1)) }),
  ]),
});

/** What a client wants the agent to know beside its own instructions, which stay: these are added to them. */
export function instructionsOf({
  systemPrompt,
  _meta,
}: Pick<AcpParams<"session/resume">, "systemPrompt" | "_meta">): string | undefined {
  if (systemPrompt) return systemPrompt.content.map(({ text }) => text).join("\n");
  // What stands in `_meta` is never an error: it may be another program's word for something else.
  const earlier = EarlierWord.safeParse(_meta);
  if (!earlier.success) return undefined;
  const { systemPrompt: given } = earlier.data;
  return typeof given === "string" ? given : given.append;
}
