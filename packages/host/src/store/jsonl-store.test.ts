import { describeStore, temporaryFolder } from "@flint/testkit";
import { JsonlStore } from "./jsonl-store.ts";

for (const durability of ["full", "relaxed"] as const) {
  describeStore(`JsonlStore (${durability})`, async () => {
    const folder = await temporaryFolder();
    const options = { root: folder.join("store"), durability };
    let store = new JsonlStore(options);
    return {
      store,
      reopen: async () => {
        await store.close();
        store = new JsonlStore(options);
        return store;
      },
      dispose: () => store.close(),
    };
  });
}
