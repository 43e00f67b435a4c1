package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimitStoreEvent;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.boot.redis.RedisStoreClient;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The beans with {@code ratelimit.store.type: redis}, and what stops the start. No server is running. */
@ExtendWith(OutputCaptureExtension.class)
class RedisStoreConfigurationTest {

    private static final AutoConfigurations AUTO = OnBoot.webMvc(OnBoot.REDIS, RateLimitAutoConfiguration.class);

    private final WebApplicationContextRunner memory = new WebApplicationContextRunner()
            .withConfiguration(AUTO)
            .withPropertyValues("ratelimit.policies.api.limit=100/minute", "spring.data.redis.port=1");
    private final WebApplicationContextRunner redis = memory.withPropertyValues("ratelimit.store.type=redis");

    @Configuration(proxyBeanMethods = false)
    static class OwnStore {
        @Bean
        RateLimitStore ownStore() {
            return InMemoryStore.create();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherConnection {
        @Bean
        RedisConnectionFactory otherConnection() {
            return (RedisConnectionFactory) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {RedisConnectionFactory.class},
                    (proxy, method, args) -> {
                        throw new UnsupportedOperationException();
                    });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoConnections {
        @Bean
        LettuceConnectionFactory first() {
            return new LettuceConnectionFactory();
        }

        @Bean
        LettuceConnectionFactory second() {
            return new LettuceConnectionFactory();
        }
    }

    @RestController
    static class Nanos {
        @GetMapping("/")
        @RateLimited(value = "5/PT0.0000001S", algorithm = "fixed-window")
        String get() {
            return "";
        }
    }

    /** Hears of outages, and notes when all beans are there. */
    @Configuration(proxyBeanMethods = false)
    static class Listening implements SmartInitializingSingleton {

        final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();

        @Override
        public void afterSingletonsInstantiated() {
            heard.add("created");
        }

        @EventListener
        void changed(RateLimitStoreEvent event) {
            heard.add(event.available());
        }
    }

    @Test
    void storeThatIsGoneAtTheStart_isAnEventWhenAllBeansAreThere() {
        redis.withUserConfiguration(Listening.class).run(context -> {
            BlockingQueue<Object> heard = context.getBean(Listening.class).heard;

            assertThat(heard.poll(1, TimeUnit.MINUTES)).isEqualTo("created");
            assertThat(heard.poll(1, TimeUnit.MINUTES)).isEqualTo(false);
        });
    }

    @Test
    void byDefault_storeIsInMemory_thoughRedisIsThere() {
        memory.run(context -> assertThat(context)
                .hasSingleBean(InMemoryStore.class)
                .doesNotHaveBean(RedisStoreClient.class)
                .doesNotHaveBean("rateLimitStoreHealthIndicator"));
    }

    @Test
    void typeRedis_makesAStore_andLeavesTheApplicationsConnectionAlone() {
        redis.run(context -> assertThat(context)
                .hasSingleBean(RedisStore.class)
                .hasSingleBean(RateLimitStore.class)
                .hasSingleBean(RateLimiter.class)
                .hasSingleBean(RedisConnectionFactory.class)
                .hasSingleBean(OnBoot.HEALTH_INDICATOR)
                .hasSingleBean(StoreWarmUp.class)
                .hasBean("stringRedisTemplate"));
    }

    @Test
    void modeLeased_leasesFromTheStore() {
        redis.withPropertyValues("ratelimit.store.redis.mode=leased").run(context -> {
            assertThat(context.getBean(RateLimitStore.class)).isInstanceOf(LeasingStore.class);
            assertThat(context).hasSingleBean(RedisStore.class);
        });
        redis.run(context -> assertThat(context).doesNotHaveBean(LeasingStore.class));
    }

    @Test
    void switchedOff_leavesStoreAndLimiter() {
        redis.withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context)
                        .hasSingleBean(RedisStore.class)
                        .hasSingleBean(RateLimiter.class)
                        .doesNotHaveBean(RateLimitFilterConfiguration.FILTER));
    }

    @Test
    void ownStore_wins() {
        redis.withUserConfiguration(OwnStore.class)
                .withPropertyValues(
                        "ratelimit.policies.api.limit=5/PT0.0000001S", "ratelimit.policies.api.algorithm=fixed-window")
                .run(context -> assertThat(context)
                        .hasSingleBean(RateLimitStore.class)
                        .doesNotHaveBean(RedisStoreClient.class));
    }

    @Test
    void micrometerOrActuatorMissing_works() {
        redis.withClassLoader(new FilteredClassLoader(MeterRegistry.class, OnBoot.HEALTH_INDICATOR))
                .run(context -> assertThat(context).hasSingleBean(RedisStore.class));
    }

    @Test
    void healthSwitchedOff_isNotThere() {
        redis.withPropertyValues("management.health.rate-limit-store.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(OnBoot.HEALTH_INDICATOR));
    }

    @ParameterizedTest
    @CsvSource(
            value = {
                "spring.data.redis.port=1, true",
                "spring.data.redis.timeout=30s, true",
                "spring.data.redis.timeout=1s, false",
                "management.health.redis.enabled=false, false"
            })
    void healthOfRedis_thatWouldHang_isWarnedOf(String property, boolean warned, CapturedOutput output) {
        redis.withConfiguration(OnBoot.health())
                .withPropertyValues(property)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output.toString().contains("and is down, although limits go on"))
                .isEqualTo(warned);
    }

    @Test
    void healthOfRedis_whileLimitsAreInMemory_isNotWarnedOf(CapturedOutput output) {
        memory.withConfiguration(OnBoot.health())
                .run(context -> assertThat(context).hasBean("redisHealthContributor"));

        assertThat(output).doesNotContain("although limits go on");
    }

    @Test
    void meters_areThereFromTheStart_andTheGaugeGoesWithTheStore() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();

        redis.withBean(MeterRegistry.class, () -> registry, definition -> definition.setDestroyMethodName(""))
                .run(context -> {
                    // there is no Redis here, but a slow machine may not have noticed yet
                    boolean available = context.getBean(RedisStore.class).available();
                    assertThat(registry.get("ratelimit.store.state").gauge().value())
                            .isEqualTo(available ? 1 : 0);
                    assertThat(registry.get("ratelimit.changes.age").gauge().value())
                            .isNotNegative();
                    assertThat(registry.get("ratelimit.store.failures").counters())
                            .hasSize(RemoteStoreFailure.values().length + RedisStoreFailure.values().length);
                    assertThat(registry.get("ratelimit.decision")
                                    .timer()
                                    .getId()
                                    .getTag("store"))
                            .isEqualTo("redis");
                });

        List<String> left = registry.getMeters().stream()
                .map(Meter::getId)
                .map(Meter.Id::getName)
                .toList();
        assertThat(left).doesNotContain("ratelimit.store.state", "ratelimit.changes.age");
    }

    @Test
    @DisplayName("F10 a missing dependency is reported with what to add")
    void dependencyMissing_isReported() {
        failsWithout(RedisStore.class, "add dev.ratelimit:ratelimit-redis");
        failsWithout(OnBoot.REDIS_DETAILS, "add org.springframework.boot:spring-boot-starter-data-redis");
        failsWithout(LettuceConnectionFactory.class, "add org.springframework.boot:spring-boot-starter-data-redis");
        failsWithout(RedisClient.class, "add io.lettuce:lettuce-core");
    }

    @Test
    void dependenciesMissing_areReportedWithoutWhatTheyBring() {
        failsWithout(
                "add dev.ratelimit:ratelimit-redis and org.springframework.boot:spring-boot-starter-data-redis",
                RedisStore.class,
                OnBoot.REDIS_DETAILS,
                LettuceConnectionFactory.class,
                RedisClient.class);
    }

    private void failsWithout(Class<?> missing, String message) {
        failsWithout(message, missing);
    }

    private void failsWithout(String message, Class<?>... missing) {
        redis.withClassLoader(new FilteredClassLoader(missing))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage("ratelimit.store.type: redis needs a dependency that is missing; " + message));
    }

    @Test
    @DisplayName("F10 a connection that the store cannot use is reported with a remedy")
    void connectionOfAnotherKind_isReported() {
        fails(redis.withUserConfiguration(OtherConnection.class), "write spring.data.redis.client-type: lettuce");
        fails(redis.withUserConfiguration(TwoConnections.class), "annotate one of them with @Primary");
        fails(
                new WebApplicationContextRunner()
                        .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
                        .withPropertyValues("ratelimit.store.type=redis"),
                "finds no bean of type RedisConnectionFactory");
    }

    private static void fails(WebApplicationContextRunner runner, String message) {
        runner.run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining(message));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limit=5/PT0.0000001S | ratelimit.policies.login.limit: ",
                "limit=5/s,plans.pro=5/PT0.0000001S | ratelimit.policies.login.plans.pro: ",
                "limit=5/s,key=ip,overrides[10.0.0.7]=5/PT0.0000001S | ratelimit.policies.login.overrides[10.0.0.7]: "
            })
    void limitThatRedisCannotKeep_isReported(String properties, String property) {
        String[] all = properties.split(",(?=[a-z])");
        for (int i = 0; i < all.length; i++) {
            all[i] = "ratelimit.policies.login." + all[i];
        }

        redis.withPropertyValues("ratelimit.policies.login.algorithm=fixed-window")
                .withPropertyValues(all)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith(property)
                        .hasMessageContaining("must be a whole number of"));
    }

    @Test
    void limitOfAnAnnotationThatRedisCannotKeep_isReported() {
        redis.withUserConfiguration(Nanos.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageStartingWith("@RateLimited on Nanos.get(): ")
                        .hasMessageContaining("must be a whole number of"));
        memory.withUserConfiguration(Nanos.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("F12 a warning is logged once if instances would admit a multiple without Redis")
    void wholeShare_isWarnedOf(CapturedOutput output) {
        redis.run(context -> assertThat(context).hasNotFailed());

        assertThat(output.getOut().split("admits the full limit of api,", -1)).hasSize(2);
        assertThat(output).contains("local-share to 1/instances, such as 0.5 for two");
    }

    @Test
    @DisplayName("F12 no warning is logged if each instance has its share, or no policy is decided locally")
    void share_isNotWarnedOf(CapturedOutput output) {
        redis.withPropertyValues("ratelimit.store.redis.local-share=0.5")
                .run(context -> assertThat(context).hasNotFailed());
        redis.withPropertyValues("ratelimit.policies.api.on-store-failure=deny")
                .run(context -> assertThat(context).hasNotFailed());
        memory.run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("admits the full limit");
    }
}
