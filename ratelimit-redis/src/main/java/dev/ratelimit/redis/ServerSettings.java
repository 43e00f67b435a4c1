package dev.ratelimit.redis;

import dev.ratelimit.remote.RemoteStoreSettings;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;

/**
 * How a store uses its servers.
 *
 * @param remote as any remote store does
 * @param edition replaces each script before it runs
 * @param threads runs what blocks: attempts to connect
 */
record ServerSettings(RemoteStoreSettings remote, UnaryOperator<Script> edition, Executor threads) {}
