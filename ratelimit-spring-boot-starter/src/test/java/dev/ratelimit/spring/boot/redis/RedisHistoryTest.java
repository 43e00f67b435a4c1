package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.test.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The history that instances share, in virtual time. */
@ExtendWith(OutputCaptureExtension.class)
class RedisHistoryTest {

    private final FakeTicker ticker = new FakeTicker(Instant.ofEpochSecond(1_764_000_000));
    private final ScriptedServer server = new ScriptedServer(ticker);

    private final class Instance {

        final SharingInstance sharing;
        final RateLimitPolicies policies;
        final RedisChanges shared;

        Instance() {
            sharing = new SharingInstance(
                    server,
                    ticker,
                    Map.of("ratelimit.policies.p.limit", "10/hour", "ratelimit.policies.p.key", "user"));
            policies = sharing.policies;
            shared = sharing.shared;
        }

        void change(String limit) {
            ticker.advance(Duration.ofMillis(10));
            policies.change("p", RateLimitChange.toLimit(limit));
        }

        List<HistoryEntry> entries() {
            return policies.history(1000);
        }
    }

    @Test
    void change_isInTheHistoryOfAllInstances_afterOneRead_andOfThoseThatStartLater() {
        Instance first = new Instance();
        Instance second = new Instance();
        first.sharing.operator = "alice";
        first.policies.change(
                "p",
                RateLimitChange.toLimit("5/hour").lasting(Duration.ofMinutes(1)).because("release"));
        second.policies.override("p", "b\u00f6b", KeyOverride.blocked());

        first.shared.read();
        second.shared.read();

        assertThat(first.entries()).hasSize(2).isEqualTo(second.entries()).isEqualTo(new Instance().entries());
        assertThat(second.entries().get(1).by()).isEqualTo("alice");
        assertThat(second.entries().get(1).time()).isEqualTo(Instant.ofEpochSecond(1_764_000_000));
        ticker.advance(Duration.ofMinutes(1));
        assertThat(first.entries()).hasSize(3).isEqualTo(second.entries());
    }

    @Test
    @Tag("slow")
    void entry_isSentAlone_howeverManyThereAre() {
        Instance first = new Instance();
        for (int i = 0; i < 1000; i++) {
            first.change(i % 2 == 0 ? "5/hour" : "6/hour");
        }
        int bytes = server.bytes;

        first.change("5/hour");

        assertThat(server.bytes - bytes).isLessThan(2500);
        assertThat(first.entries()).hasSize(1000);
        assertThat(new Instance().entries()).isEqualTo(first.entries());
    }

    @Test
    void read_thatFindsNothingNew_isOneScript() {
        Instance first = new Instance();
        first.change("5/hour");
        first.shared.read();
        int scripts = server.scripts;

        first.shared.read();

        assertThat(server.scripts - scripts).isOne();
    }

    @Test
    void secondsSinceRead_growWhileRedisDoesNotAnswer() {
        Instance first = new Instance();
        ticker.advance(Duration.ofSeconds(5));
        assertThat(first.shared.secondsSinceRead()).isEqualTo(5);

        server.down = true;
        first.shared.read();
        assertThat(first.shared.secondsSinceRead()).isEqualTo(5);

        server.down = false;
        first.shared.read();
        assertThat(first.shared.secondsSinceRead()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"abc", "", "1e400"})
    void version_thatAnotherWriterHasReplaced_isNoneOfRedis(String foreign) {
        Instance first = new Instance();
        Instance second = new Instance();
        first.change("5/hour");
        server.putField(ScriptedServer.CHANGES + ":version", "version", foreign);

        ticker.advance(Duration.ofSeconds(1));

        second.shared.read();
        first.shared.read();

        assertThat(first.shared.secondsSinceRead()).isZero();
        assertThat(second.shared.secondsSinceRead()).isZero();
        assertThat(second.entries()).hasSize(1).isEqualTo(first.entries());
        second.change("6/hour");
        first.shared.read();
        assertThat(first.entries()).hasSize(2);
    }

    @Test
    void read_whoseErrorCannotBeLogged_isFollowedByOthers() {
        Instance first = new Instance();
        Instance second = new Instance();
        Logger logger = (Logger) LoggerFactory.getLogger(RedisChanges.class);
        AtomicInteger logged = new AtomicInteger();
        Appender<ILoggingEvent> full = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                logged.incrementAndGet();
                throw new InternalError("in the log");
            }
        };
        full.start();
        logger.addAppender(full);
        try {
            second.shared.start();
            server.atNextScript = () -> {
                throw new InternalError("in a read");
            };
            await().until(() -> advance() && logged.get() > 0);

            first.change("5/hour");

            await().until(() -> advance() && second.entries().size() == 1);
        } finally {
            logger.detachAppender(full);
            second.shared.stop();
        }
    }

    private boolean advance() {
        ticker.advance(Duration.ofSeconds(1));
        return true;
    }

    @Test
    void history_survivesTheLossOfAllData_andAnOlderCopy() {
        Instance first = new Instance();
        Instance second = new Instance();
        first.change("5/hour");
        second.shared.read();
        ScriptServer.Data older = server.redis.snapshot();
        second.change("6/hour");
        first.shared.read();

        server.redis.flushAll();
        first.change("7/hour");
        second.shared.read();
        first.shared.read();
        assertThat(second.entries()).hasSize(3);
        assertThat(first.entries()).isEqualTo(second.entries());

        server.redis.restore(older);
        second.shared.read();
        assertThat(new Instance().entries()).isEqualTo(second.entries());
        assertThat(second.entries()).hasSize(3);
    }

    @Test
    void change_whoseAnswerIsLost_isInForce_andInTheHistory() {
        Instance first = new Instance();
        Instance second = new Instance();
        server.losesReply = true;
        assertThatThrownBy(() -> first.policies.override("p", "alice", KeyOverride.blocked()))
                .isInstanceOf(IllegalStateException.class);

        first.shared.read();
        second.shared.read();

        assertThat(first.policies.overrides("p")).hasSize(1);
        assertThat(first.entries()).hasSize(1).isEqualTo(second.entries());
    }

    @Test
    void change_thatRedisGets_afterItsCallerWasToldOfAFailure_isVoid() {
        Instance first = new Instance();
        Instance second = new Instance();
        server.losesReply = true;
        server.atNextScript = () -> ticker.advance(Duration.ofSeconds(4));
        assertThatThrownBy(() -> first.policies.override("p", "alice", KeyOverride.blocked()))
                .isInstanceOf(IllegalStateException.class);

        first.shared.read();
        second.shared.read();

        assertThat(first.policies.overrides("p")).isEmpty();
        assertThat(second.entries()).isEmpty();
    }

    @Test
    void change_afterTheClockOfRedisWasSet_isMade() {
        Instance first = new Instance();
        server.atNextScript = () -> ticker.advance(Duration.ofHours(3));

        first.policies.override("p", "alice", KeyOverride.blocked());

        assertThat(first.policies.overrides("p")).hasSize(1);
        assertThat(new Instance().entries()).hasSize(1);
    }

    @Test
    void overridesOfOneKey_byTwoInstances_eachTellWhatTheyHaveReplaced() {
        Instance first = new Instance();
        Instance second = new Instance();
        first.policies.override("p", "alice", KeyOverride.blocked());

        second.policies.override("p", "alice", KeyOverride.unlimited());

        assertThat(second.entries()).extracting(HistoryEntry::from).containsExactly("blocked", null);
    }

    @Test
    void foreignHistory_isReplaced(CapturedOutput output) {
        Instance first = new Instance();
        first.change("5/hour");
        server.redis.put(ScriptedServer.HISTORY, "nonsense".getBytes(StandardCharsets.UTF_8));

        first.shared.read();
        first.shared.read();

        assertThat(output).contains("The key ratelimit:{changes}:history in Redis had a value that is none of changes");
        assertThat(new Instance().entries()).isEqualTo(first.entries()).hasSize(1);
    }

    @Test
    void lastInstance_takesTheHistoryWithIt() {
        Instance first = new Instance();
        Instance second = new Instance();
        first.change("5/hour");
        second.shared.read();

        first.shared.leave();
        assertThat(server.redis.has(ScriptedServer.HISTORY)).isTrue();
        second.shared.leave();

        assertThat(server.redis.keys()).isEmpty();
    }
}
