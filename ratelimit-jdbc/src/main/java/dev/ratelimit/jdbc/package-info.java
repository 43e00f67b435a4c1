/**
 * The store in SQL databases.
 *
 * <p>The way of a decision, from the caller down and back:
 *
 * <pre>
 * JdbcStore    a store on another server: deadline, breaker, refunds and local decisions are those of core.
 * Database     sends what waits in its next transaction, and judges the database by what becomes of it.
 * Transactions a connection and a thread for each of them.
 * SqlDecider   one transaction for all orders: read and lock, execute, write, commit; again if another one was faster.
 * Dialect      the statements of a database.
 * Row          what the table knows of one policy and key: the states of its limits, by rank, and who holds permits.
 * RowCodec     a row as the table has it; which limits wrote it is text, as LimitNotation writes it.
 * Ledger       the rows of the transaction at its time, on which it executes one Order after another.
 * Question     what a charge asks of one limit.
 * </pre>
 *
 * <p>Rows are locked, and new ones inserted, in the order of their keys. Whatever has not been committed has not happened.
 */
@NullMarked
package dev.ratelimit.jdbc;

import org.jspecify.annotations.NullMarked;
