import { isTaskRight, TASK_RIGHTS, type TaskRight } from "@flint/frontends";
import { limitedTokensFile, stateFolder } from "@flint/server/environment";
import { type LimitedToken, LimitedTokens } from "@flint/server/listeners";
import { noArguments, oneArgument, UsageError } from "../../command-line/command.ts";
import { columns, print, printError, printJson } from "../../command-line/output.ts";

interface TokenArguments {
  readonly values: {
    readonly name?: string | undefined;
    readonly rights?: string | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

const ACTIONS = ["create", "list", "revoke"] as const;
const MAX_NAME = 60;

/** `flint server token`: makes, lists and revokes tokens that allow only some rights. */
export async function serverToken({ values, positionals }: TokenArguments): Promise<number> {
  const [action, ...rest] = positionals;
  const tokens = new LimitedTokens(limitedTokensFile(stateFolder()));
  switch (action) {
    case "create":
      noArguments("server token create", rest);
      return print(`${tokens.create(nameOf(values.name), rightsOf(values.rights), Date.now())}\n`);
    case "list":
      noArguments("server token list", rest);
      return values.json === true ? printJson(tokens.list()) : print(listText(tokens.list()));
    case "revoke": {
      const name = oneArgument("server token revoke", rest, "the name of a token");
      return tokens.revoke(name)
        ? print(`Revoked the token ${name}.\n`)
        : printError(`There is no token named ${name}. flint server token list shows them.`, 1);
    }
    default:
      throw new UsageError(`server token takes one of ${ACTIONS.join(", ")}.`);
  }
}

function nameOf(name: string | undefined): string {
  if (name !== undefined && /^[\w.-]+$/.test(name) && name.length <= MAX_NAME) return name;
  throw new UsageError(
    `Name the token with --name, such as --name ci: letters, digits, ".", "_" and "-", up to ${MAX_NAME}.`,
  );
}

function rightsOf(text: string | undefined): readonly TaskRight[] {
  const names = [...new Set((text ?? "").split(",").filter((name) => name !== ""))];
  const known = names.filter(isTaskRight);
  if (known.length > 0 && known.length === names.length) return known;
  const wrong = names.find((name) => !isTaskRight(name));
  const what = wrong === undefined ? "" : `${JSON.stringify(wrong)} is not a right. `;
  throw new UsageError(`${what}Give --rights one or more of ${Object.keys(TASK_RIGHTS).join(", ")}.`);
}

function listText(tokens: readonly LimitedToken[]): string {
  if (tokens.length === 0) return "There are no limited tokens.\n";
  return columns(
    tokens.map(({ name, rights, createdAt }) => [name, rights.join(","), new Date(createdAt).toISOString()]),
  );
}
