import { type Fields, InputRefusal, object, type Values } from "./input.ts";
import { failed, type Tool, type ToolContext, type ToolOutcome } from "./tool.ts";

/** A tool in the making: its input is described once, for the model and for the check. */
export interface ToolDefinition<Shapes extends Fields> {
  readonly name: string;
  readonly description: string;
  readonly readOnly: boolean;
  readonly input: Shapes;
  run(input: Values<Shapes>, context: ToolContext): Promise<ToolOutcome>;
}

/** A tool whose calls with a wrong input are answered in words and do nothing. */
export function defineTool<Shapes extends Fields>(definition: ToolDefinition<Shapes>): Tool {
  const { name, description, readOnly } = definition;
  const input = object(definition.input);
  return {
    name,
    description,
    readOnly,
    parameters: input.schema,
    async run(given, context): Promise<ToolOutcome> {
      let read: Values<Shapes>;
      // Expected: whatever a model can make up.
      try {
        read = input.read(given, "");
      } catch (thrown) {
        if (thrown instanceof InputRefusal) return failed(`${name}: ${thrown.message}`);
        throw thrown;
      }
      return definition.run(read, context);
    },
  };
}
