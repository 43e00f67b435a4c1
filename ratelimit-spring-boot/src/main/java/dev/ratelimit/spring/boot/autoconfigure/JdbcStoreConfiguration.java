package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.LimitNotation;
import dev.ratelimit.jdbc.JdbcStore;
import dev.ratelimit.jdbc.JdbcStoreBuilder;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.jdbc.RateLimitDataSource;
import dev.ratelimit.spring.boot.spi.LimitValidator;
import dev.ratelimit.spring.boot.store.StoreObserver;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties.Jdbc.InitializeSchema;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.init.DatabasePopulator;

/** The store in a database, if {@code ratelimit.store.type} is jdbc and all dependencies are present. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = RemoteStoreConfiguration.TYPE, havingValue = "jdbc")
@ConditionalOnClass(JdbcStore.class)
@ConditionalOnMissingBean(RateLimitStore.class)
class JdbcStoreConfiguration {

    private static final Logger log = LoggerFactory.getLogger(JdbcStoreConfiguration.class);

    /** The name of the table that the scripts create. */
    private static final String TABLE = "ratelimit";

    @Bean(RemoteStoreConfiguration.STORE)
    @DependsOnDatabaseInitialization
    JdbcStore rateLimitStore(
            @RateLimitDataSource ObjectProvider<DataSource> chosen,
            ObjectProvider<DataSource> all,
            RateLimitProperties properties,
            BeanFactory beans) {
        RateLimitProperties.Jdbc settings = properties.store().jdbc();
        JdbcStoreBuilder builder = JdbcStore.builder(connections(chosen, all))
                .table(settings.table())
                .maxConnections(settings.maxConnections())
                .cleanUpInterval(settings.cleanUpInterval())
                .notation(beans.getBeanProvider(LimitNotation.class).getIfAvailable(() -> LimitNotation.STANDARD));
        StoreObserver observer =
                RemoteStoreConfiguration.configure(builder, settings, properties.onStoreFailure(), beans);
        try {
            JdbcStore store = builder.build();
            observer.watch(store);
            return store;
        } catch (IllegalStateException e) {
            throw mistake("cannot be used: " + e.getMessage() + remedy(settings), e);
        }
    }

    /** What helps without tables, if anything else does than to create them. */
    private static String remedy(RateLimitProperties.Jdbc settings) {
        if (!settings.table().equals(TABLE) || settings.initializeSchema() == InitializeSchema.NEVER) {
            return "";
        }
        return settings.initializeSchema() == InitializeSchema.ALWAYS
                ? ". ratelimit.store.jdbc.initialize-schema is always, which needs"
                        + " org.springframework.boot:spring-boot-starter-jdbc; if its script fails, the log of"
                        + " org.springframework.jdbc.datasource.init says why at DEBUG"
                : ". Or set ratelimit.store.jdbc.initialize-schema to always";
    }

    private static DataSource connections(ObjectProvider<DataSource> chosen, ObjectProvider<DataSource> all) {
        DataSource connections = chosen.getIfUnique();
        if (connections == null) {
            connections = all.getIfUnique();
        }
        if (connections != null) {
            return connections;
        }
        throw mistake(
                all.stream().findAny().isPresent()
                        ? "finds several beans of type DataSource; annotate one of them with @RateLimitDataSource or @Primary"
                        : "finds no bean of type DataSource; add org.springframework.boot:spring-boot-starter-jdbc and"
                                + " the database's driver. Beside R2DBC, Spring Boot declares none; declare one with"
                                + " @RateLimitDataSource. In a test of a slice, write memory",
                null);
    }

    @Bean("dev.ratelimit.limitValidator")
    LimitValidator rateLimitLimitValidator(ObjectProvider<LimitNotation> notation) {
        return limit -> {
            String ignored =
                    notation.getIfAvailable(() -> LimitNotation.STANDARD).of(limit);
        };
    }

    /** Creates the tables, if the database is embedded or it is told to. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({DataSourceScriptDatabaseInitializer.class, DatabasePopulator.class})
    @Import(DatabaseInitializationDependencyConfigurer.class)
    static class Schema {

        @Bean("dev.ratelimit.schema")
        DataSourceScriptDatabaseInitializer rateLimitSchema(
                @RateLimitDataSource ObjectProvider<DataSource> chosen,
                ObjectProvider<DataSource> all,
                RateLimitProperties properties) {
            RateLimitProperties.Jdbc store = properties.store().jdbc();
            if (store.initializeSchema() == InitializeSchema.ALWAYS
                    && !store.table().equals(TABLE)) {
                throw new RateLimitConfigurationException(
                        "ratelimit.store.jdbc.initialize-schema",
                        "always",
                        "always creates a table named ratelimit, and ratelimit.store.jdbc.table is " + store.table()
                                + "; create that one, and write never");
            }
            DataSource connections = connections(chosen, all);
            String script = script(store, connections);
            DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
            settings.setMode(
                    script == null
                            ? DatabaseInitializationMode.NEVER
                            : DatabaseInitializationMode.valueOf(
                                    store.initializeSchema().name()));
            settings.setSchemaLocations(script == null ? List.of() : List.of("classpath:" + script));
            // the tables are there from the second start on
            settings.setContinueOnError(true);
            return new DataSourceScriptDatabaseInitializer(connections, settings);
        }

        /** What creates the tables; {@code null} if nothing does, as the store starts without its database, too. */
        private static @Nullable String script(RateLimitProperties.Jdbc store, DataSource connections) {
            if (!store.table().equals(TABLE) || store.initializeSchema() == InitializeSchema.NEVER) {
                return null;
            }
            if (store.initializeSchema() == InitializeSchema.EMBEDDED) {
                // of the embedded databases, the store knows one
                return "dev/ratelimit/jdbc/schema-h2.sql";
            }
            try {
                return JdbcStore.schema(connections);
            } catch (SQLFeatureNotSupportedException e) {
                throw mistake("cannot be used: " + e.getMessage(), e);
            } catch (SQLException e) {
                log.warn("The database does not answer, so that tables for rate limits cannot be created", e);
                return null;
            }
        }
    }

    private static RateLimitConfigurationException mistake(String reason, @Nullable Exception cause) {
        RateLimitConfigurationException mistake =
                new RateLimitConfigurationException(RemoteStoreConfiguration.TYPE, "jdbc", "jdbc " + reason);
        if (cause != null) {
            mistake.addSuppressed(cause);
        }
        return mistake;
    }
}
