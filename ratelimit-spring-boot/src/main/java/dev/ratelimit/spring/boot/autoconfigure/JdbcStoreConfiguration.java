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
import java.util.List;
import javax.sql.DataSource;
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
        StoreObserver observer = RemoteStoreConfiguration.configure(builder, properties, beans);
        try {
            JdbcStore store = builder.build();
            observer.watch(store);
            return store;
        } catch (IllegalStateException e) {
            throw new RateLimitConfigurationException(
                    RemoteStoreConfiguration.TYPE,
                    "jdbc",
                    "jdbc needs its tables: " + e.getMessage()
                            + ". Or set ratelimit.store.jdbc.initialize-schema to always");
        }
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
                                + " the database's driver");
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
            InitializeSchema when = properties.store().jdbc().initializeSchema();
            if (when == InitializeSchema.ALWAYS
                    && !properties.store().jdbc().table().equals("ratelimit")) {
                throw new RateLimitConfigurationException(
                        "ratelimit.store.jdbc.initialize-schema",
                        "always",
                        "always creates a table named ratelimit, and ratelimit.store.jdbc.table is "
                                + properties.store().jdbc().table() + "; create that one, and write never");
            }
            DataSource connections = connections(chosen, all);
            DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
            settings.setMode(DatabaseInitializationMode.valueOf(when.name()));
            settings.setSchemaLocations(List.of("classpath:" + script(when, connections)));
            // the tables are there from the second start on
            settings.setContinueOnError(true);
            return new DataSourceScriptDatabaseInitializer(connections, settings);
        }

        /** Without a question to the database, unless there must be one that answers. */
        private static String script(InitializeSchema when, DataSource connections) {
            if (when != InitializeSchema.ALWAYS) {
                // of the embedded databases, the store knows one
                return "dev/ratelimit/jdbc/schema-h2.sql";
            }
            try {
                return JdbcStore.schema(connections);
            } catch (SQLException e) {
                throw new RateLimitConfigurationException(
                        "ratelimit.store.jdbc.initialize-schema",
                        "always",
                        "always needs a database that answers: " + e.getMessage());
            }
        }
    }

    private static RateLimitConfigurationException mistake(String reason) {
        return new RateLimitConfigurationException(RemoteStoreConfiguration.TYPE, "jdbc", "jdbc " + reason);
    }
}
