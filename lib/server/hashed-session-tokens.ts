import "server-only";
import type { BetterAuthOptions } from "@better-auth/core";
import type { DBAdapter, DBTransactionAdapter, Where } from "@better-auth/core/db/adapter";
import { sha256Hex } from "@/lib/protocol/hash";

type MakeAdapter = (options: BetterAuthOptions) => DBAdapter;

/**
 * Keep only the hashes of session tokens.
 *
 * The library stores a session under its token, so whoever reads the table could sign in as everybody. Between
 * the library and the table, each token is replaced by its SHA-256 (256 random-looking bits need no salt), and
 * put back where the library gave it to us in the same call.
 */
export function withHashedSessionTokens(make: MakeAdapter): MakeAdapter {
  return (options) => {
    const adapter = make(options);
    return {
      ...hashing(adapter),
      transaction: (work) => adapter.transaction((inner) => work(hashing(inner))),
    };
  };
}

function hashing<Adapter extends DBTransactionAdapter>(adapter: Adapter): Adapter {
  return {
    ...adapter,
    create: async (request) =>
      restore(await adapter.create({ ...request, data: hashIn(request.model, request.data) }), request.data),
    findOne: async (request) => restore(await adapter.findOne(hashWhere(request)), named(request)),
    findMany: (request) => adapter.findMany(hashWhere(request)),
    count: (request) => adapter.count(hashWhere(request)),
    update: async (request) =>
      restore(
        await adapter.update({ ...hashWhere(request), update: hashIn(request.model, request.update) }),
        named(request),
      ),
    updateMany: (request) =>
      adapter.updateMany({ ...hashWhere(request), update: hashIn(request.model, request.update) }),
    delete: (request) => adapter.delete(hashWhere(request)),
    deleteMany: (request) => adapter.deleteMany(hashWhere(request)),
    consumeOne: async (request) => restore(await adapter.consumeOne(hashWhere(request)), named(request)),
  };
}

function hashIn<Data extends object>(model: string, data: Data): Data {
  return model === "session" && "token" in data && typeof data.token === "string"
    ? { ...data, token: sha256Hex(data.token) }
    : data;
}

function hashWhere<Request extends { model: string; where?: Where[] | undefined }>(request: Request): Request {
  if (request.model !== "session" || request.where === undefined) return request;
  return { ...request, where: request.where.map(hashCondition) };
}

function hashCondition(condition: Where): Where {
  if (condition.field !== "token") return condition;
  const { value } = condition;
  if (typeof value === "string") return { ...condition, value: sha256Hex(value) };
  if (!Array.isArray(value)) return condition;
  return { ...condition, value: value.map((each) => sha256Hex(String(each))) };
}

/** The token that a request named, so that its answer may carry it again. */
function named(request: { readonly model: string; readonly where: readonly Where[] }): object {
  const token = request.model === "session" ? request.where.find(({ field }) => field === "token")?.value : undefined;
  return typeof token === "string" ? { token } : {};
}

function restore<Row>(row: Row, from: object): Row {
  const isSession = typeof row === "object" && row !== null && "token" in row && "userId" in row;
  return isSession && "token" in from && typeof from.token === "string" ? { ...row, token: from.token } : row;
}
