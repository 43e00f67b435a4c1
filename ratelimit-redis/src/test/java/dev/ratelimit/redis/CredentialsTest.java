package dev.ratelimit.redis;

import static dev.ratelimit.redis.Scene.WIDE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Users that the server does not know, or that lack a permission. */
@Tag("servers")
class CredentialsTest {

    @Started
    private RedisServer server;

    private final AtomicReference<String> password = new AtomicReference<>("first");

    @BeforeEach
    void setPassword() {
        setPassword("first");
    }

    private void setPassword(String text) {
        server.ask(redis -> redis.aclSetuser(
                "limiter",
                AclSetuserArgs.Builder.on()
                        .resetpass()
                        .addPassword(text)
                        .allKeys()
                        .allCommands()));
    }

    private Scene scene() {
        RedisURI uri = server.uri();
        uri.setCredentialsProvider(
                RedisCredentialsProvider.from(() -> RedisCredentials.just("limiter", password.get())));
        return new Scene(uri, settings -> settings.deadline(Duration.ofSeconds(5)));
    }

    private static void awaitAuth(Scene scene) {
        Scene.awaitUntil(() -> {
            assertThat(scene.decide(WIDE, "k").admitted()).isTrue();
            return scene.events.failures(RedisStoreFailure.AUTH) > 0 && !scene.store.available();
        });
    }

    @Test
    @DisplayName("E18: wrong password: reason auth, the server's message in the warning, and recovery")
    void wrongPassword_isNamedAndRecovers() {
        password.set("wrong");
        try (Scene scene = scene()) {
            awaitAuth(scene);
            assertThat(scene.events.warnings()).singleElement().asString().contains("(auth: ", "WRONGPASS");

            password.set("first");
            scene.awaitRedis();
        }
    }

    @Test
    @DisplayName("E18: password changed at run time: reason auth until the new password is used")
    void passwordRotated_recoversWithTheNewOne() {
        try (Scene scene = scene().connected()) {
            setPassword("second");
            server.ask(redis -> redis.clientKill(KillArgs.Builder.user("limiter")));
            awaitAuth(scene);

            password.set("second");
            scene.awaitRedis();
        }
    }

    @Test
    @DisplayName("password changed while both are valid for a time: no decision fails for it")
    void passwordRotated_newOneIsValidBeforeTheOldOneEnds_isNeverRefused() {
        try (Scene scene = scene().connected()) {
            server.ask(redis ->
                    redis.aclSetuser("limiter", AclSetuserArgs.Builder.on().addPassword("second")));
            password.set("second");
            setPassword("second");
            assertThat(RedisStore.decidedByRedis(scene.decide(WIDE, "k"))).isTrue();

            server.ask(redis -> redis.clientKill(KillArgs.Builder.user("limiter")));
            scene.awaitRedis();

            assertThat(scene.events.failures(RedisStoreFailure.AUTH)).isZero();
            assertThat(scene.store.available()).isTrue();
        }
    }

    @Test
    @DisplayName("E18: a user without EVALSHA: reason auth, the command in the warning, and recovery")
    void noEvalsha_isNamedAndRecovers() {
        try (Scene scene = scene().connected()) {
            server.ask(redis -> redis.aclSetuser(
                    "limiter",
                    AclSetuserArgs.Builder.removeCommand(CommandType.EVALSHA).removeCommand(CommandType.EVAL)));
            awaitAuth(scene);
            assertThat(scene.events.warnings()).singleElement().asString().contains("(auth: NOPERM", "evalsha");

            setPassword("first");
            scene.awaitRedis();
        }
    }

    @Test
    @DisplayName("E18: a user without a command that the scripts use: reason auth")
    void noCommandOfTheScript_isNamed() {
        try (Scene scene = scene().connected()) {
            server.ask(redis -> redis.aclSetuser("limiter", AclSetuserArgs.Builder.removeCommand(CommandType.PSETEX)));
            awaitAuth(scene);
        }
    }

    @Test
    @DisplayName("E18: a user without a command that only refunds and resets use: not asked again while that fails")
    void noCommandOfRefunds_isNamedOnce() {
        try (Scene scene = scene().connected()) {
            server.ask(redis -> redis.aclSetuser("limiter", AclSetuserArgs.Builder.removeCommand(CommandType.DEL)));
            assertThat(scene.store.reset(WIDE, "k")).isFalse();

            // probes fail, too
            Scene.awaitUntil(() -> scene.events.failures(RedisStoreFailure.AUTH) > 5);
            assertThat(scene.store.available()).isFalse();
            assertThat(scene.events.warnings()).singleElement().asString().contains("(auth: ");

            setPassword("first");
            scene.awaitRedis();
        }
    }
}
