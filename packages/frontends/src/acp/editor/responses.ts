import { foreignObject, nullish } from "@flint/protocol";
import * as z from "zod/mini";

/** The response to `fs/read_text_file`. */
export const ReadTextFileResponse = foreignObject({ content: z.string() });

/** The response to `terminal/create`. */
export const CreateTerminalResponse = foreignObject({ terminalId: z.string().check(z.minLength(1)) });

/** The response to `terminal/output`. */
export const TerminalOutputResponse = foreignObject({ output: z.string(), truncated: z.boolean() });

/** The response to `terminal/wait_for_exit`. */
export const WaitForExitResponse = foreignObject({
  exitCode: nullish(z.number()),
  signal: nullish(z.string()),
});
export type WaitForExitResponse = z.output<typeof WaitForExitResponse>;
