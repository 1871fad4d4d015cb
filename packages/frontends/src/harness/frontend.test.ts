import { describeFrontend } from "@flint/testkit";
import { harnessFrontend } from "./frontend.ts";

const requestId = "0190a000-0000-7000-8000-000000000001.0190a000-0000-7000-8000-000000000002";

describeFrontend("the harness door", harnessFrontend(), {
  requests: { "approval.respond": [{ requestId, decision: "once" }] },
});
