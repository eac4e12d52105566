import { afterAll, beforeAll } from "vitest";
import type { Mailbox } from "./mailbox";
import { testClaims } from "./mailbox-claims.testsuite";
import { testGenerations } from "./mailbox-generations.testsuite";
import { Trial } from "./mailbox-trial";

export interface MailboxUnderTest {
  readonly mailbox: Mailbox;
  close(): Promise<void>;
}

/** What every implementation of a mailbox must do: the 35 behaviours of protocol §10 and those of D4, each a test of its name. */
export function testMailbox(make: () => Promise<MailboxUnderTest>): void {
  let tested: MailboxUnderTest;
  let trial: Trial;
  beforeAll(async () => {
    tested = await make();
    trial = new Trial(tested.mailbox);
  });
  afterAll(() => tested.close());
  testClaims(() => trial);
  testGenerations(() => trial);
}
