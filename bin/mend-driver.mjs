// Faults of the database driver (postgres 3.4.9) by which a connection that breaks takes its whole process along, or leaves it waiting. What is written to
// one that has just been ended, as the rollback of its transaction is, throws where nobody can catch it
// (github.com/porsager/postgres/issues/1208); and nobody looks at the failure of the first thing that a connection asks by itself.
// Until a release has the guards, they are put into the installed files. db/driver.pg.test.ts fails where they are missing.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

const FILES = ["src/connection.js", "cjs/src/connection.js"];

const MENDS = [
  // Only what was asked of the connection that is gone is told so: the next one may be on its way already, for somebody else's question.
  [
    `  function nextWrite(fn) {
    const x = socket.write`,
    `  function nextWrite(fn) {
    if (socket === null) {
      clearImmediate(nextWriteTimer)
      chunk = nextWriteTimer = null
      const gone = Errors.connection('CONNECTION_CLOSED', options)
      query && queryError(query, gone)
      query = null
      while (sent.length)
        queryError(sent.shift(), gone)
      return false
    }
    const x = socket.write`,
  ],
  // What was still to be written belongs to the connection that is gone; its timer, once cleared, would never run again.
  [
    `    incomings = null
    clearImmediate(nextWriteTimer)
    socket.`,
    `    incomings = null
    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.`,
  ],
  // Also what was asked between an error and the end of its connection is told of that end: otherwise it would be waited for for ever.
  ["    !hadError && (query || sent.length) && error(", "    ;(query || sent.length) && error("],
  // Whoever waits for the connection is told of its end anyway.
  ["        return fetchArrayTypes()\n", "        return fetchArrayTypes().catch(() => {})\n"],
];

/** Put the guards into the installed driver; once they are there, and in a version that reads otherwise, nothing is changed. */
export function mendDriver(root) {
  for (const name of FILES) {
    const file = path.join(root, "node_modules", "postgres", name);
    if (!existsSync(file)) continue;
    const found = readFileSync(file, "utf8");
    const mended = MENDS.reduce((text, [fault, mend]) => text.replace(fault, () => mend), found);
    if (mended === found) continue;
    // Whole or not at all: another process may be reading it.
    writeFileSync(`${file}.${process.pid}`, mended);
    renameSync(`${file}.${process.pid}`, file);
  }
}
