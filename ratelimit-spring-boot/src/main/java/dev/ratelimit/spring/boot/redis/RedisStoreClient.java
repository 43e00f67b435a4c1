package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreBuilder;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A client for the same servers as the application's own client, with the same settings. The store does not share it,
 * because it changes options. Not a bean of a Spring Data type, so that nobody mistakes it for the application's.
 */
public final class RedisStoreClient implements RedisChanges.Server {

    /** The timeout of a connection attempt, whatever the application configures for its commands. */
    static final Duration PATIENCE = Duration.ofSeconds(3);

    private final LettuceConnectionFactory like;
    private final LettuceConnectionFactory factory;

    /** Creates a client like the application's. */
    public RedisStoreClient(LettuceConnectionFactory like) {
        this.like = like;
        this.factory = new LettuceConnectionFactory(configuration(like), configuration(like.getClientConfiguration()));
        factory.start();
    }

    private static RedisConfiguration configuration(LettuceConnectionFactory like) {
        return firstOf(
                like.getClusterConfiguration(),
                like.getSentinelConfiguration(),
                like.getSocketConfiguration(),
                like.getStandaloneConfiguration());
    }

    private static RedisConfiguration firstOf(@Nullable RedisConfiguration... configurations) {
        for (RedisConfiguration configuration : configurations) {
            if (configuration != null) {
                return configuration;
            }
        }
        throw new IllegalStateException("the connection factory has no configuration of a known kind");
    }

    private static LettuceClientConfiguration configuration(LettuceClientConfiguration like) {
        LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder()
                .commandTimeout(shorter(like.getCommandTimeout()))
                .shutdownTimeout(like.getShutdownTimeout())
                .shutdownQuietPeriod(like.getShutdownQuietPeriod())
                .clientOptions(options(like.getClientOptions().orElseGet(ClientOptions::create)));
        like.getClientResources().ifPresent(builder::clientResources);
        like.getClientName().ifPresent(builder::clientName);
        like.getRedisCredentialsProviderFactory().ifPresent(builder::redisCredentialsProviderFactory);
        if (like.isUseSsl()) {
            LettuceSslClientConfigurationBuilder ssl = builder.useSsl().verifyPeer(like.getVerifyMode());
            if (like.isStartTls()) {
                ssl.startTls();
            }
        }
        return builder.build();
    }

    private static ClientOptions options(ClientOptions like) {
        SocketOptions socket = like.getSocketOptions();
        return like.mutate()
                .socketOptions(socket.mutate()
                        .connectTimeout(shorter(socket.getConnectTimeout()))
                        .build())
                .build();
    }

    private static Duration shorter(Duration configured) {
        return configured.isZero() || configured.compareTo(PATIENCE) > 0 ? PATIENCE : configured;
    }

    /** Creates another client with the same settings. */
    public RedisStoreClient another() {
        return new RedisStoreClient(like);
    }

    /** The connection settings of the client. */
    LettuceConnectionFactory factory() {
        return factory;
    }

    @Override
    public List<byte[]> eval(byte[] script, int keys, byte[]... keysAndArguments) {
        try (RedisConnection connection = factory.getConnection()) {
            return Objects.requireNonNull(
                    connection.scriptingCommands().eval(script, ReturnType.MULTI, keys, keysAndArguments));
        }
    }

    /** Drops a connection that failed, so that the next command opens another one, to the servers of then. */
    @Override
    public void reconnect() {
        try {
            factory.resetConnection();
            if (factory.getRequiredNativeClient() instanceof RedisClusterClient cluster) {
                cluster.refreshPartitionsAsync();
            }
        } catch (RuntimeException e) {
            // the next command tries again
        }
    }

    /** Creates a builder for a store with this client. */
    public RedisStoreBuilder newStore() {
        AbstractRedisClient client = factory.getRequiredNativeClient();
        return client instanceof RedisClusterClient cluster
                ? RedisStore.builder(cluster)
                : RedisStore.builder((RedisClient) client);
    }

    /** To be closed after the store. */
    @Override
    public void close() {
        factory.destroy();
    }
}
