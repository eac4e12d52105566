import net from "node:net";

/**
 * What a transaction pooler does to a session, without one: after each transaction nothing of the session is left, as when the next one
 * meets another backend. LISTEN, SET and prepared statements are gone; whatever a transaction set for itself was gone anyway. And as
 * PgBouncer does, it lets nobody in who sets more than it keeps track of.
 */
export interface ResettingPooler {
  readonly url: string;
  close(): Promise<void>;
}

export async function resettingPooler(databaseUrl: string): Promise<ResettingPooler> {
  const { hostname, port } = new URL(databaseUrl);
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const backend = net.connect({ host: hostname, port: Number(port) });
    new Session(client, backend);
    for (const socket of [client, backend]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        open.delete(socket);
        client.destroy();
        backend.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = new URL(databaseUrl);
  address.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return {
    url: address.href,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

const RESET = Buffer.from("Q\0\0\0\u0010DISCARD ALL\0", "latin1");
const KEPT = ["user", "database", "client_encoding", "datestyle", "timezone", "application_name"];

/** What a greeting sets beside that: its length, its version, then names and values, each ended by a zero. */
function unknownSettings(greeting: Buffer): readonly string[] {
  const words = greeting.subarray(8).toString("utf8").split("\0");
  return words.filter((word, at) => at % 2 === 0 && word !== "" && !KEPT.includes(word.toLowerCase()));
}

function refusal(setting: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0Munsupported startup parameter: ${setting}\0\0`, "utf8");
  const head = Buffer.from("E\0\0\0\0", "latin1");
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

const [QUERY, SYNC, READY, IDLE] = [..."QSZI"].map((letter) => letter.charCodeAt(0));

/** One client's line to its backend: it is reset whenever nothing is asked and no transaction is open. */
class Session {
  /** What the client has asked and the backend has not answered whole; null until the client is let in. */
  private asked: number | null = null;
  private greeted = false;
  private isResetting = false;
  private waiting = Buffer.alloc(0);
  private coming = Buffer.alloc(0);

  constructor(
    private readonly client: net.Socket,
    private readonly backend: net.Socket,
  ) {
    client.on("data", (bytes) => {
      this.waiting = Buffer.concat([this.waiting, bytes]);
      this.send();
    });
    backend.on("data", (bytes) => this.receive(bytes));
  }

  private send(): void {
    if (this.isResetting || this.waiting.length === 0) return;
    // Its first words have no type; they are passed on as they come.
    if (this.asked === null) {
      const [unknown] = this.greeted ? [] : unknownSettings(this.waiting);
      if (unknown !== undefined) return void this.client.end(refusal(unknown));
      this.greeted = true;
      this.backend.write(this.waiting);
      this.waiting = Buffer.alloc(0);
      return;
    }
    for (let message = this.first(this.waiting); message; message = this.first(this.waiting)) {
      if (message[0] === QUERY || message[0] === SYNC) this.asked += 1;
      this.backend.write(message);
      this.waiting = this.waiting.subarray(message.length);
    }
  }

  private receive(bytes: Buffer): void {
    this.coming = Buffer.concat([this.coming, bytes]);
    for (let message = this.first(this.coming); message; message = this.first(this.coming)) {
      this.coming = this.coming.subarray(message.length);
      if (!this.isResetting) this.client.write(message);
      if (message[0] === READY) this.ready(message[5] === IDLE);
    }
  }

  private ready(isIdle: boolean): void {
    if (this.isResetting) this.isResetting = false;
    else {
      this.asked = Math.max(0, (this.asked ?? 1) - 1);
      this.isResetting = isIdle && this.asked === 0;
      if (this.isResetting) this.backend.write(RESET);
    }
    this.send();
  }

  /** The first whole message, or null. */
  private first(bytes: Buffer): Buffer | null {
    if (bytes.length < 5) return null;
    const length = 1 + bytes.readUInt32BE(1);
    return bytes.length < length ? null : bytes.subarray(0, length);
  }
}
