// A fault of the database driver (postgres 3.4.9, github.com/porsager/postgres/issues/1208): what is written to a connection that the
// server or a pooler has just ended, as the rollback of its transaction is, throws where nobody can catch it, and the process dies.
// Until a release has the guard, it is put into the installed files. db/driver.pg.test.ts fails where it is missing.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

const FILES = ["src/connection.js", "cjs/src/connection.js"];

const MENDS = [
  [
    `  function nextWrite(fn) {
    const x = socket.write`,
    `  function nextWrite(fn) {
    if (socket === null) {
      clearImmediate(nextWriteTimer)
      chunk = nextWriteTimer = null
      error(Errors.connection('CONNECTION_CLOSED', options))
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
];

/** Put the guard into the installed driver; once it is there, and in a version that reads otherwise, nothing is changed. */
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
