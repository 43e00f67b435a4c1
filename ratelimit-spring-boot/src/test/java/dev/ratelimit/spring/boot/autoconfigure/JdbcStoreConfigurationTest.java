package dev.ratelimit.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.jdbc.JdbcStore;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.jdbc.RateLimitDataSource;
import dev.ratelimit.spring.boot.spi.LimitValidator;
import dev.ratelimit.spring.boot.spi.StoreReport;
import dev.ratelimit.spring.boot.store.StoreHealth;
import dev.ratelimit.spring.boot.store.StoreMeters;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.context.annotation.UserConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

/** The beans with {@code ratelimit.store.type: jdbc}, the tables, and what stops the start. */
class JdbcStoreConfigurationTest {

    private static final Policy FIVE = Policy.of("five", TokenBucket.of(Rate.parse("5/day")));

    private final ApplicationContextRunner none = application();
    private final ApplicationContextRunner embedded = application(Embedded.class);

    /** An application with these configurations. */
    private static ApplicationContextRunner application(Class<?>... own) {
        return new ApplicationContextRunner()
                .withUserConfiguration(own)
                .withConfiguration(UserConfigurations.of(RateLimitsConfiguration.class))
                // changes are audited for an operator, whom a starter knows
                .withClassLoader(new FilteredClassLoader(AuditApplicationEvent.class))
                .withPropertyValues("ratelimit.store.type=jdbc");
    }

    private static DataSource h2(String name) {
        JdbcDataSource connections = new JdbcDataSource();
        connections.setUrl("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1");
        return connections;
    }

    @Configuration(proxyBeanMethods = false)
    static class Embedded {
        @Bean
        DataSource connections() {
            return h2(JdbcStoreConfigurationTest.class.getSimpleName() + System.nanoTime());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Two {
        @Bean
        DataSource orders() {
            return h2("orders");
        }

        @Bean
        DataSource others() {
            return h2("others");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Marked {
        @Bean
        @RateLimitDataSource
        DataSource limits() {
            return h2("limits");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Registry {
        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnStore {
        @Bean
        RateLimitStore ownStore() {
            return InMemoryStore.create();
        }
    }

    @Test
    void embeddedDatabase_hasItsTables_andDecides() {
        embedded.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(RateLimitStore.class);
            RateLimitStore store = context.getBean(JdbcStore.class);
            assertThat(store.decide(List.of(FIVE.charge("k", 5))).admitted()).isTrue();
            assertThat(store.decide(List.of(FIVE.charge("k"))).admitted()).isFalse();
            assertThat(context.getBean(StoreReport.class).get()).isEqualTo(Map.of("type", "jdbc", "available", true));
            assertThat(StoreHealth.of(context.getBean(JdbcStore.class), context.getBean(RateLimitProperties.class)))
                    .isEqualTo(new StoreHealth("UP", "the database"));
            assertThat(context.getBean(LimitValidator.class)).isNotNull();
        });
    }

    @Test
    void settings_areThoseOfTheProperties() {
        DataSource connections = h2("settings");
        new JdbcTemplate(connections).execute("create schema app");
        none.withBean(DataSource.class, () -> connections)
                .withPropertyValues("ratelimit.store.jdbc.table=app.budgets", "ratelimit.store.jdbc.mode=leased")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("there is no table app.budgets or app.budgets_schema; create both by"
                                + " dev/ratelimit/jdbc/schema-h2.sql in ratelimit-jdbc")
                        .hasMessageEndingWith("ratelimit-jdbc"));
        embedded.withPropertyValues("ratelimit.store.jdbc.mode=leased")
                .run(context ->
                        assertThat(context.getBean(RateLimitStore.class)).isInstanceOf(LeasingStore.class));
        embedded.withPropertyValues("ratelimit.store.jdbc.initialize-schema=never")
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("there is no table"));
        embedded.withPropertyValues(
                        "ratelimit.store.jdbc.initialize-schema=always", "ratelimit.store.jdbc.table=budgets")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining(
                                "always creates a table named ratelimit, and ratelimit.store.jdbc.table is"
                                        + " budgets; create that one, and write never"));
        embedded.withPropertyValues("ratelimit.store.jdbc.max-connections=0")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("max-connections must be from 1 to 64; write 2"));
    }

    @Test
    void tables_thatAreThere_stay() {
        DataSource connections = h2("stays");
        ApplicationContextRunner application = none.withBean(DataSource.class, () -> connections)
                .withPropertyValues("ratelimit.store.jdbc.initialize-schema=always");
        application.run(context -> assertThat(context.getBean(JdbcStore.class)
                        .decide(List.of(FIVE.charge("k", 5)))
                        .admitted())
                .isTrue());
        application.run(context -> assertThat(context.getBean(JdbcStore.class)
                        .decide(List.of(FIVE.charge("k")))
                        .admitted())
                .isFalse());
    }

    @Test
    void dataSource_isTheMarkedOne_orTheOnlyOne() {
        none.run(context -> assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("finds no bean of type DataSource; add"
                        + " org.springframework.boot:spring-boot-starter-jdbc and the database's driver"));
        application(Two.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("finds several beans of type DataSource; annotate one of them with"
                                + " @RateLimitDataSource or @Primary"));
        application(Two.class, Marked.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(JdbcStore.class)
                            .decide(List.of(FIVE.charge("marked")))
                            .admitted())
                    .isTrue();
            assertThat(new JdbcTemplate(h2("limits")).queryForObject("select count(*) from ratelimit", Integer.class))
                    .isOne();
        });
    }

    @Test
    void meters_areThoseOfTheStore() {
        application(Embedded.class, Registry.class).run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(context).hasSingleBean(StoreMeters.class);
            assertThat(registry.get("ratelimit.store.state").gauge().value()).isOne();
            assertThat(registry.get("ratelimit.store.failures")
                            .tag("reason", "readonly")
                            .counter()
                            .count())
                    .isZero();
        });
    }

    @Test
    void storeOfTheApplication_orMissingDependency() {
        application(Embedded.class, OwnStore.class)
                .run(context -> assertThat(context).doesNotHaveBean(JdbcStore.class));
        embedded.withClassLoader(new FilteredClassLoader(JdbcStore.class, AuditApplicationEvent.class))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining(
                                "jdbc needs a dependency that is missing; add dev.ratelimit:ratelimit-jdbc"));
    }
}
