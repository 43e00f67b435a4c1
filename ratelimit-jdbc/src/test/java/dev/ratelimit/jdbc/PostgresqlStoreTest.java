package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
class PostgresqlStoreTest extends SqlStoreContract {

    @Override
    Database start() {
        return Database.postgresql();
    }
}
