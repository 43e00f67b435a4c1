/**
 * The storm: the whole store, from its public methods to the commands that leave it, runs through random histories of
 * faults in a world of one thread at a time, virtual time and simulated servers, each repeatable from its seed.
 *
 * <p>{@link dev.ratelimit.redis.storm.World} has the time and runs everything; {@link dev.ratelimit.redis.storm.Network},
 * {@link dev.ratelimit.redis.storm.Server} and its {@link dev.ratelimit.redis.server.ScriptServer} are what is outside an
 * instance. A {@link dev.ratelimit.redis.storm.History} is what happens, drawn from a seed, and
 * {@link dev.ratelimit.redis.storm.Storm} runs one and keeps the {@link dev.ratelimit.redis.storm.Books} that every step
 * is checked against.
 */
@NullMarked
package dev.ratelimit.redis.storm;

import org.jspecify.annotations.NullMarked;
