import { testMailbox } from "@/db/testing/mailbox.testsuite";
import { pgMailbox } from "@/db/testing/pg-mailbox";
import { newWorld } from "@/db/testing/world";

// Behaviours 1 to 35 of the conformance list, and D4 where a number says so.
testMailbox(async () => {
  const world = await newWorld();
  return { mailbox: pgMailbox(world.db, world.system, world.operator), close: world.close };
});
