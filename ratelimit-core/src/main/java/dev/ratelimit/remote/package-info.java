/**
 * Stores on other servers: what is about being remote, whatever the protocol. Those who write such a store use the public types;
 * {@code Servers} are what they implement.
 *
 * <p>The way of a decision, from the caller down and back:
 *
 * <pre>
 * RemoteStore      StatusCache refuses what a server has refused and cannot have changed.
 * Inquiries        The rest is a PendingDecision, with a Part per charge.
 * Sender           numbers the charges.
 * Servers          of the store: a Request per server and moment.
 * Server           its Breaker lets the request in, and judges it once, when it ends.
 * Combiner         if the store uses it: charges that wait for a carrier go together.
 * Answer           of the store: what the server says.
 * PendingDecision  the Decision, with a Receipt of who decided which charge, and when, for refunds.
 * </pre>
 *
 * <p>The caller waits only in {@code Request.await}, until its deadline. What no server has answered by then is decided by
 * LocalDecider: denied, allowed, or by LocalLimits, this instance's share in memory. What a server may have charged for a caller
 * who did not get it, and each refund without an answer, is owed by OwedRefunds until a server has executed it.
 *
 * <p>A Breaker belongs to a Server: a failing one does not affect the others. While it is open, Probing asks the server by
 * alarms, and no request does. A StoreFailure says why a server did not decide, and its Reason what that says about the server.
 *
 * <p>Monitors guard a few fields each and are left before listeners, loggers or the store are called. One calls others while it
 * is held: a Request enters its Server, which may set the alarm of its Probing. Everything else is handed over by futures.
 */
@NullMarked
package dev.ratelimit.remote;

import org.jspecify.annotations.NullMarked;
