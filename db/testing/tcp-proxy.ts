import net from "node:net";

/** A line between a program and its database that can be cut. */
export interface TcpProxy {
  /** The database's address by way of this line. */
  readonly url: string;
  /** The ports that the database sees these connections come from. */
  ports(): readonly number[];
  /** End connections that `which` picks: as a server ends them, or as a broken network does. Gives how many there were. */
  cut(how: "ended" | "broken", which?: () => boolean): number;
  /**
   * Break the connection by which the database next says this, and keep what it said: it was done, and nobody hears of it. So many are
   * let pass first, and all until it has said something else.
   */
  loseNext(said: string, first?: { readonly pass?: number; readonly after?: string }): void;
  /** How many answers were lost so. */
  lost(): number;
  close(): Promise<void>;
}

interface Line {
  readonly near: net.Socket;
  readonly far: net.Socket;
}

export async function tcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const lines = new Set<Line>();
  let losing: { readonly said: string; readonly after: string | null; readonly pass: number } | null = null;
  let lost = 0;
  const server = net.createServer((near) => {
    const far = net.connect({ host: hostname, port: Number(port) });
    const line = { near, far };
    lines.add(line);
    near.pipe(far);
    far.on("data", (said: Buffer) => {
      const heard = losing?.after ?? losing?.said;
      if (losing === null || heard === undefined || !said.includes(heard)) return void near.write(said);
      if (losing.after !== null || losing.pass > 0) {
        losing = { said: losing.said, after: null, pass: losing.after === null ? losing.pass - 1 : losing.pass };
        return void near.write(said);
      }
      losing = null;
      lost += 1;
      near.resetAndDestroy();
    });
    for (const socket of [near, far]) {
      socket.on("error", () => undefined);
      socket.once("close", () => {
        lines.delete(line);
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = new URL(databaseUrl);
  address.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return {
    url: address.href,
    ports: () => [...lines].flatMap(({ far }) => far.localPort ?? []),
    cut: (how, which = () => true) => {
      const chosen = [...lines].filter(which);
      for (const { near, far } of chosen) {
        if (how === "ended") near.end();
        else near.resetAndDestroy();
        far.destroy();
      }
      return chosen.length;
    },
    loseNext: (said, { pass = 0, after = null } = {}) => {
      losing = { said, after, pass };
    },
    lost: () => lost,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const { near } of lines) near.destroy();
      await closed;
    },
  };
}
