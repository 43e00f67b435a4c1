package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
@Tag("slow")
class PostgresqlStoreTest extends SqlStoreContract {

    @Override
    TestDatabase start() {
        return TestDatabase.postgresql();
    }
}
