import net from "node:net";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChildProgram, childProgram } from "@/db/testing/child-program";
import { type TcpProxy, tcpProxy } from "@/db/testing/tcp-proxy";
import { newWorld, type World } from "@/db/testing/world";

let world: World;
let holder: postgres.Sql;
let proxy: TcpProxy;
let program: ChildProgram;
beforeAll(async () => {
  world = await newWorld(2);
  holder = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  proxy = await tcpProxy(world.appUrl);
  // A lock that the test holds is where it stands still; afterwards it tries again on a new connection.
  program = await childProgram(`
    import { Busy, connect, inWorkspace } from "@/db/client";
    const [databaseUrl, workspace] = process.argv.slice(2);
    const db = await connect(databaseUrl, { role: "holdpoint_worker", max: 1 });
    const wait = (tx) => tx.sql\`select pg_advisory_xact_lock_shared(7)\`;
    process.on("message", async () => {
      const said = await inWorkspace(db, workspace, wait).then(() => "done", (error) => (error instanceof Busy ? "busy" : String(error)));
      process.send(said);
    });
    process.send("ready");
  `);
});
afterAll(async () => {
  program.remove();
  await proxy.close();
  await holder.end();
  await world.close();
});

async function untilItWaits(): Promise<void> {
  for (;;) {
    const [waiting] = await holder`
      select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
    if (waiting) return;
  }
}

test.each(["ended", "broken"] as const)(
  "a connection that is %s in mid-transaction: the work is busy, the process lives, and the next work is done",
  async (how) => {
    const child = program.start(proxy.url, world.workspace);
    expect(await program.answer(child)).toBe("ready");
    await holder`select pg_advisory_lock(7)`;
    child.send("work");
    await untilItWaits();
    const answer = program.answer(child);
    expect(proxy.cut(how)).toBe(1);
    expect(await answer).toBe("busy");
    await holder`select pg_advisory_unlock(7)`;
    child.send("work");
    expect(await program.answer(child)).toBe("done");
    child.kill("SIGKILL");
  },
);

/** A server that lets everybody in, and breaks the line at the first question. */
async function breakingServer(): Promise<net.Server> {
  const [letIn, ready] = [Buffer.from("R\0\0\0\u0008\0\0\0\0", "latin1"), Buffer.from("Z\0\0\0\u0005I", "latin1")];
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.once("data", () => socket.resetAndDestroy());
      socket.write(Buffer.concat([letIn, ready]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

test("a connection that breaks before its first question is answered: the caller is told, and the process lives", async () => {
  const server = await breakingServer();
  const { port } = server.address() as net.AddressInfo;
  const asking = await childProgram(`
    import { connect } from "@/db/client";
    const failed = await connect(process.argv[2], { role: "holdpoint_worker", max: 1 }).then(() => false, () => true);
    // A turn later whatever nobody looked at has ended the process.
    setTimeout(() => process.send(failed ? "told" : "not told"), 50);
  `);
  const child = asking.start(`postgres://nobody:nothing@127.0.0.1:${port}/none`);
  expect(await asking.answer(child)).toBe("told");
  child.kill("SIGKILL");
  asking.remove();
  await new Promise((resolve) => server.close(resolve));
});

test("what is asked of a connection between its error and its end is told of the end, and the next work is done", async () => {
  const asking = await childProgram(`
    import net from "node:net";
    import { connect } from "@/db/client";
    const db = await connect(process.argv[2], { role: "holdpoint_worker", max: 1 });
    const { emit } = net.Socket.prototype;
    net.Socket.prototype.emit = function (event, ...more) {
      const heard = emit.call(this, event, ...more);
      if (event === "error") void db.sql\`select 1\`.then(() => "done", () => "told").then((word) => process.send(word));
      return heard;
    };
    process.on("message", () => db.sql\`select 1\`.then(() => process.send("done")));
    process.send("idle");
  `);
  const child = asking.start(proxy.url);
  expect(await asking.answer(child)).toBe("idle");
  const answer = asking.answer(child);
  expect(proxy.cut("broken")).toBe(1);
  expect(await answer).toBe("told");
  child.send("work");
  expect(await asking.answer(child)).toBe("done");
  child.kill("SIGKILL");
  asking.remove();
});
