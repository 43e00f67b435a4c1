/**
 * The store on Redis or Valkey. API are the types whose names begin with {@code RedisStore}.
 *
 * <p>What is about being remote, from the deadline to the refunds that are owed, is that of {@code dev.ratelimit.remote}, whose
 * package says how a decision gets to {@code Servers} and back. Here, its way goes on:
 *
 * <pre>
 * Router           the Servers: KeyNames, and by Topology (OneServer, Cluster) a Batch per slot, and its Request.
 * Node             a server, with its Link, ServerClock and the Server that judges it.
 * ScriptExecutor   the Script of the batch's limits (RedisLimits: a RedisLimit per algorithm); follows redirects.
 * Combiner         charges to one slot that wait for the connection go together, as one Letter.
 * Link             the connection, LettuceConnection, which asks for the Call when it writes.
 * ReplyOutput      a Reply for each batch, its Answer; each RedisLimit reads its numbers; ServerClock learns the server's time.
 * </pre>
 *
 * <p>LettuceFailure makes a StoreFailure of what the client throws and of what servers reply; their reasons are those of
 * RedisStoreFailure.
 *
 * <p>Monitors guard a few fields each and are left before the client is called, but for one: a command of a connection composes
 * its Call from what the Combiner has. Everything else is handed over by futures.
 */
@NullMarked
package dev.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
