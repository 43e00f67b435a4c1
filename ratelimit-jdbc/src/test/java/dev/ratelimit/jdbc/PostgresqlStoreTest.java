package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
@Tag("nightly")
class PostgresqlStoreTest extends SqlStoreContract {

    @Override
    TestDatabase start() {
        return TestDatabase.postgresql();
    }
}
