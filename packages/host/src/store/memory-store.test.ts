import { describeStore } from "@flint/testkit";
import { MemoryStore } from "./memory-store.ts";

describeStore("MemoryStore", async () => {
  const store = new MemoryStore();
  return {
    store,
    reopen: async () => {
      await store.close();
      return store;
    },
    dispose: () => store.close(),
  };
});
