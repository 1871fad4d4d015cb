import { VERSION } from "../version.ts";

/** What `flint --help` says. */
export const HELP = `flint ${VERSION}: one harness for every coding agent

  flint exec "PROMPT"                 ask the agent to do something here
  flint serve --stdio                 the Flint protocol for one client (also: flint app-server)
  flint harness --cwd DIR             the harness protocol; threads go to DIR/.harness
  flint harness-client --cwd DIR "PROMPT"
                                      a small client of it, to see how it works
  flint schema [NAME] [--out DIR] [--typescript]
                                      the protocol as JSON Schema or TypeScript

Try:
  flint exec "what is in this folder?"
  flint exec "run \`npm test\`"
  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | flint harness

Options of exec, serve and harness:
  --cwd DIR                 where to work (default: here)
  --model MODEL             such as flint/offline
  --approval POLICY         when to ask: never, unlessTrusted (default), always
  --sandbox POLICY          what commands may touch: read-only, workspace-write (default),
                            danger-full-access, external-sandbox
  --allow-unconfined        let clients choose danger-full-access together with never
  --approval-timeout SECS   an approval nobody answers is declined after this (default: 600)
  --durability LEVEL        full (default): a completed turn survives a power cut;
                            relaxed: it survives the end of Flint, a power cut may lose seconds
  -h, --help                this text;  --version  the version

Threads are kept in $FLINT_HOME, else $XDG_STATE_HOME/flint, else ~/.local/state/flint.
Exit codes: 0 done, 1 the turn failed or was interrupted, 2 wrong use.
`;
