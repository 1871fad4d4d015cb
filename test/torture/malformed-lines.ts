/** One kind of line that no proper client sends, and the one error that answers it. */
export interface MalformedLine {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The code of the error; undefined where no answer is right. */
  readonly code: number | undefined;
  /** The JSON of the id that the error must carry. */
  readonly id: string;
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const UNKNOWN_METHOD = -32601;
const LINE_END = 10;

function line(
  name: string,
  content: string | readonly number[],
  code: number | undefined,
  id = "null",
): MalformedLine {
  const bytes =
    typeof content === "string" ? Buffer.from(`${content}\n`) : Buffer.from([...content, LINE_END]);
  return { name, bytes, code, id };
}

function nested(levels: number): string {
  return `${"[".repeat(levels)}${"]".repeat(levels)}`;
}

/** Every kind of malformed line. */
export const MALFORMED_LINES: readonly MalformedLine[] = [
  line("text that is not JSON", "hello there", PARSE_ERROR),
  line("truncated JSON", '{"id":1,"method":"model/list"', PARSE_ERROR),
  line("an empty array", "[]", INVALID_REQUEST),
  line("null", "null", INVALID_REQUEST),
  line("a number", "42", INVALID_REQUEST),
  line("a string", '"s"', INVALID_REQUEST),
  line("an empty object", "{}", INVALID_REQUEST),
  line("an object as id", '{"id":{"a":1},"method":"x"}', UNKNOWN_METHOD, '{"a":1}'),
  line("a fraction as id", '{"id":1.5,"method":"x"}', UNKNOWN_METHOD, "1.5"),
  line("2^70 as id", '{"id":1180591620717411303424,"method":"x"}', UNKNOWN_METHOD, "1180591620717411303424"),
  line("two ids", '{"id":71,"id":72,"method":"x"}', UNKNOWN_METHOD, "72"),
  line("a number as method", '{"id":73,"method":5}', INVALID_REQUEST, "73"),
  line("a string as params", '{"id":74,"method":"model/list","params":"p"}', INVALID_REQUEST, "74"),
  line("invalid UTF-8", [0x7b, 0xff, 0xfe, 0x7d], PARSE_ERROR),
  line("a byte order mark", '\uFEFF{"id":75,"method":"x"}', UNKNOWN_METHOD, "75"),
  line("a carriage return", '{"id":76,"method":"x"}\r', UNKNOWN_METHOD, "76"),
  line("blank lines", "\n\r\n   ", undefined),
  line("control bytes", [0x00, 0x01, 0x1b, 0x5b], PARSE_ERROR),
  line("a batch", '[{"id":1,"method":"model/list"},{"id":2,"method":"model/list"}]', INVALID_REQUEST),
  line("an unsolicited result", '{"id":99,"result":{}}', undefined),
  line("2,000 levels", `{"id":77,"method":"x","params":${nested(2_000)}}`, INVALID_REQUEST, "77"),
  line("100,000 levels", `{"id":78,"method":"x","params":${nested(100_000)}}`, INVALID_REQUEST, "78"),
  line(
    "prototype keys",
    '{"id":79,"method":"x","params":{"__proto__":{"p":1},"constructor":{"prototype":{"p":1}}}}',
    UNKNOWN_METHOD,
    "79",
  ),
  line("an unknown method", '{"id":80,"method":"toString"}', UNKNOWN_METHOD, "80"),
];
