/**
 * The store on Redis or Valkey. API are the types whose names begin with {@code RedisStore}.
 *
 * <p>The way of a decision, from the caller down and back:
 *
 * <pre>
 * RedisStore       StatusCache refuses what Redis has refused and cannot have changed.
 * Inquiries        The rest is a PendingDecision, with a Part per charge.
 * Router           KeyNames, and by Topology (OneServer, Cluster) a Batch per slot.
 * Node             its Breaker lets the batch in; PendingBatch is the batch under way, judged once.
 * ScriptExecutor   the Script of the batch's limits (RedisLimits: a RedisLimit per algorithm); follows redirects.
 * Combiner         charges to one slot that wait for the connection go together, as one Letter.
 * Link             the connection, LettuceConnection, which asks for the Call when it writes.
 * ReplyOutput      a Reply for each batch; each RedisLimit reads its numbers; ServerClock learns the server's time.
 * PendingDecision  the Decision, with a Receipt of who decided which charge, and when, for refunds.
 * </pre>
 *
 * <p>The caller waits only in {@code PendingBatch.await}, until its deadline. What no server has answered by then is decided
 * by LocalDecider: denied, allowed, or by LocalLimits, this instance's share in memory. What a server may have charged for a
 * caller who did not get it, and each refund without an answer, is owed by OwedRefunds until a server has executed it.
 *
 * <p>A Breaker belongs to a Node, and a Node to a server: a failing server does not affect the others. While it is open,
 * Probing asks the server by alarms, and no request does. A StoreFailure says why a server did not decide; its reasons are
 * those of RedisStoreFailure.
 *
 * <p>Monitors guard a few fields each and are left before listeners, loggers or the client are called. Two call others while
 * they are held: a PendingBatch enters its Node, which may set the alarm of its Probing, and a command of a connection
 * composes its Call from what the Combiner has. Everything else is handed over by futures.
 */
@NullMarked
package dev.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
