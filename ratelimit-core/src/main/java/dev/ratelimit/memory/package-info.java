/**
 * The store on the heap.
 *
 * <p>Each limit of each policy has a {@code Keyspace}: segments, and in each a {@code Table} of slots. There are four
 * ways to decide a charge; if one of them cannot decide, it leaves the charge to the next, with nothing charged:
 *
 * <pre>
 * call                                               HotSlot  Keyspace  StackTransaction  Transaction
 * tryCharge, one limit of a few longs                    1st      2nd           -              3rd
 * tryCharge, one limit whose state grows                  -       1st           -              2nd
 * tryCharge of a list or of several limits, and decide    -        -           1st             2nd
 * peek, refund, reset                                     -        -            -             always
 * </pre>
 *
 * <p>A hot slot, which is remembered from former calls, cannot decide if it belongs to another key by now; the keyspace
 * cannot if the key has another limit; the stack cannot if a key is new, moving, locked, charged twice or under another
 * limit, or if a state grows. A transaction decides everything: for each limit it has a {@code Claim}, which finds and
 * locks the slot, and a {@code Draft} of what will be written there. A {@code Collector} gathers the
 * result: a yes or no or, as a {@code Receipt}, the status of each limit.
 *
 * <p>A slot's life, by its header (1, 56 bits of hash, lock, 6 bits for the number of the limit):
 *
 * <pre>
 * EMPTY --publish--&gt; KEY &lt;--lock, unlock--&gt; KEY|LOCK --remove--&gt; REMOVED --publish--&gt; KEY of another
 *                                           KEY|LOCK --moved---&gt; MOVED (the search goes on in table.next)
 * </pre>
 *
 * <p>Order of locks: a segment's before those of its slots, and no second segment's; among slots, that of the newest
 * keyspace first, then that of the newer table, then the higher slot. A stack transaction waits only in that order, and
 * otherwise gives up. No thread waits for a segment while it holds a slot.
 *
 * <p>Clock: read after the state is read or locked, so that no state contains a later time. For several limits it is
 * read once: by a transaction when all are locked; on the stack after the first lock, so that another state may contain
 * a later time, and a refusal by such a state is left to a transaction.
 */
@NullMarked
package dev.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
